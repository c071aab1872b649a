/* chip.h - the names of the chips that platform numbers stand for. */
#ifndef ASCOPE_PROFILE_CHIP_H
#define ASCOPE_PROFILE_CHIP_H

const char *chip_name(int platform); /* "Ascend910B"; "UNKNOWN" when nobody knows the number */

#endif
