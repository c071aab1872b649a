#include <stdio.h>

int main(void)
{
    puts("ascope");
    return 0;
}
