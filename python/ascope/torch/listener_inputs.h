/* SPDX-License-Identifier: Apache-2.0 */
/* listener_inputs.h - the inputs of an operator as texts: types and shapes, tensors, lists of tensors, scalars.
 *
 * The grammar is that of torch.op_range, which analyse/memory_timeline/tensor_text.h describes.
 */
#pragma once

#include "flops.h"
#include "listener_context.h"

namespace
{

/* Room is looked after once for each input, not for each character: this is what shapes cost. */
enum : size_t { TYPE_MOST = 64, SIZE_MOST = 21 };

char *add(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}

char *add_number(char *to, int64_t value)
{
    if (value >= 0 && value < 10) {
        *to = static_cast<char>('0' + value);
        return to + 1;
    }
    char digits[SIZE_MOST];
    unsigned n = 0;
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do
        digits[SIZE_MOST - ++n] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[SIZE_MOST - ++n] = '-';
    return add(to, digits + SIZE_MOST - n, n);
}

/* Names of PyTorch's types that can be copied in one go; filled by names_prepare(). */
struct type_name {
    char text[24];
    uint32_t n; /* 0: longer, or none of PyTorch's */
};
type_name type_names[static_cast<size_t>(c10::ScalarType::NumOptions)];

void names_prepare()
{
    for (size_t i = 0; i < static_cast<size_t>(c10::ScalarType::Undefined); i++) {
        const auto name = c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(i)).name();
        if (name.size() > sizeof type_names[i].text)
            continue;
        memcpy(type_names[i].text, name.data(), name.size());
        type_names[i].n = static_cast<uint32_t>(name.size());
    }
}

char *add_type(char *to, const at::Tensor &t)
{
    const type_name &known = type_names[static_cast<size_t>(t.scalar_type())];
    if (known.n > 0) {
        memcpy(to, known.text, sizeof known.text);
        return to + known.n;
    }
    const auto name = t.dtype().name();
    return add(to, name.data(), name.size() < TYPE_MOST ? name.size() : size_t{ TYPE_MOST });
}

char *add_type(char *to, const c10::IValue &v)
{
    if (v.isScalar())
        return add(to, "Scalar", 6);
    if (v.isTensorList())
        return add(to, "TensorList", 10);
    if (v.isList() && (v.toListRef().empty() || v.toListRef()[0].isScalar()))
        return add(to, "ScalarList", 10);
    return add(to, "None", 4);
}

/* Types and shapes in one go, the former in room that is large enough for them. Apart from what most recordings do not
 * want, it has the registers for itself. */
__attribute__((noinline)) void put_inputs(memory *m, c10::ArrayRef<const c10::IValue> inputs, text_piece *types,
                                          text_piece *shapes)
{
    const size_t begin = m->used, room = inputs.size() * (TYPE_MOST + 1);
    if (!m->reserve(room))
        return;
    size_t type = begin, shape = begin + room;
    m->used = shape;
    for (size_t i = 0; i < inputs.size(); i++) {
        const c10::IValue &v = inputs[i];
        const bool is_plain_tensor = v.isTensor() && is_plain(v.toTensor());
        const auto sizes = is_plain_tensor ? v.toTensor().sizes() : c10::IntArrayRef();
        if (!m->reserve(sizes.size() * (SIZE_MOST + 1) + 1))
            break;
        char *to_type = m->text + type, *to = m->text + shape;
        if (i > 0)
            *to_type++ = *to++ = ';';
        to_type = is_plain_tensor ? add_type(to_type, v.toTensor()) : add_type(to_type, v);
        for (size_t k = 0; k < sizes.size(); k++) {
            if (k > 0)
                *to++ = ',';
            to = add_number(to, sizes[k]);
        }
        type = static_cast<size_t>(to_type - m->text);
        m->used = shape = static_cast<size_t>(to - m->text);
    }
    if (m->used > TEXTS_MOST) {
        m->used = begin;
        return;
    }
    *types = { static_cast<uint32_t>(begin), static_cast<uint32_t>(type - begin) };
    *shapes = { static_cast<uint32_t>(begin + room), static_cast<uint32_t>(shape - begin - room) };
}

void put_tensor(memory *m, const at::Tensor &t, bool is_sim)
{
    const auto name = t.dtype().name();
    const bool is_strided = t.layout() == c10::kStrided;
    const c10::Device device = t.device();
    m->put_pointer(t.unsafeGetTensorImpl());
    m->put(';');
    if (t.has_storage() && t.storage().data())
        m->put_pointer(t.storage().data());
    m->put(';');
    m->put(name.data(), name.size());
    m->put(';');
    m->put_number(t.dtype().itemsize());
    m->put(';');
    m->put_list(t.sizes());
    m->put(';');
    if (is_strided)
        m->put_list(t.strides());
    m->put(';');
    const bool is_on_sim = is_sim && device.type() == c10::DeviceType::CPU;
    m->put_signed(is_on_sim ? int64_t{ ASCOPE_ON_NPU } : static_cast<int64_t>(device.type()));
    m->put(';');
    m->put_signed(is_on_sim ? 0 : device.index());
}

void put_tensors(memory *m, c10::ArrayRef<const c10::IValue> inputs, bool is_sim)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isTensor() && is_plain(v.toTensor())) {
            if (m->used > begin)
                m->put(')');
            put_tensor(m, v.toTensor(), is_sim);
        }
}

void put_tensor_lists(memory *m, c10::ArrayRef<const c10::IValue> inputs, bool is_sim)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isTensorList()) {
            for (const c10::IValue &element : v.toListRef())
                if (is_plain(element.toTensor())) {
                    put_tensor(m, element.toTensor(), is_sim);
                    m->put(')');
                }
            m->put('}');
        }
    if (m->used > begin)
        m->used--; /* the last one is not closed */
}

void put_scalars(memory *m, c10::ArrayRef<const c10::IValue> inputs)
{
    const size_t begin = m->used;
    for (const c10::IValue &v : inputs)
        if (v.isScalar()) {
            const char *const kind = v.isBool()            ? "Bool"
                                     : v.isInt()           ? "Int"
                                     : v.isDouble()        ? "Double"
                                     : v.isComplexDouble() ? "Complex"
                                                           : "Others";
            if (m->used > begin)
                m->put(';');
            m->put(kind, strlen(kind));
        }
}

template <typename PUT> text_piece piece_of(memory *m, PUT put)
{
    const size_t begin = m->used;
    put();
    if (m->used > TEXTS_MOST) /* rather the operator without it than no operator */
        m->used = begin;
    return { static_cast<uint32_t>(begin), static_cast<uint32_t>(m->used - begin) };
}

} // namespace
