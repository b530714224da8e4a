#include <algorithm>
#include <cstdint>
#include <memory>

#include "bindings/released.hpp"
#include "bindings/sampling.hpp"
#include "mechanisms/grid_kernels.hpp"
#include "mechanisms/integer_theta.hpp"
#include "mechanisms/sampling_kernels.hpp"
#include "mechanisms/vmf_sampling_kernels.hpp"
#include "random/bit_stream.hpp"
#include "runtime/interruption.hpp"

namespace tightnoise {
namespace {

// A mechanism's sampler; `names` are those of its scale and its bounds, if it has any.
template <class... Names>
void def_sampler(py::module_& m, const char* name, NoiseLaw law, const Samplers& plain,
                 const GridSamplers& on_grid, Holds holds, Names... names) {
    m.def(
        name,
        [=](const py::array& theta, ArrayOf<Names>... parameters, const py::array& out,
            NoiseSource& source, const std::optional<Float64Array>& step,
            const std::optional<Float64Array>& low, std::uint64_t first) {
            sample(plain, on_grid, holds, {law, &theta, out, source, step, low, first},
                   [&](auto& task) {
                       Operand* to[] = {&task.sigma, &task.lower, &task.upper};
                       std::size_t i = 0;
                       ((*to[i++] = parameter(parameters, out)), ...);
                   });
        },
        py::arg("theta"), py::arg(names)..., py::arg("out"), py::arg("source"),
        py::arg("step") = py::none(), py::arg("low") = py::none(), py::arg("first") = 0);
}

void def_noise(py::module_& m, const char* name, NoiseLaw law, const Samplers& samplers) {
    m.def(
        name,
        [=](const py::array& out, NoiseSource& source) {
            const Place place{law, nullptr, out, source, std::nullopt, std::nullopt, 0};
            sample(samplers, place, Holds::floats, [](auto&) {});
        },
        py::arg("out"), py::arg("source"));
}

template <class Real>
void sample_von_mises_fisher_as(const py::array_t<Real, py::array::c_style>& direction,
                                double kappa, py::array_t<Real, py::array::c_style> out,
                                NoiseSource& source, double step) {
    const bool one_row = out.ndim() < 2;
    if (out.ndim() < 1 || out.ndim() > 2 || out.shape(out.ndim() - 1) < 2) {
        throw py::type_error("core: out must be of shape (dim,) or (n, dim), dim at least 2");
    }
    const auto dim = static_cast<std::size_t>(out.shape(out.ndim() - 1));
    const auto rows = one_row ? std::size_t{1} : static_cast<std::size_t>(out.shape(0));
    const std::size_t given = length(direction);
    if (given != dim && given != rows * dim) {
        throw py::type_error("core: operand of the wrong length");
    }
    VmfTask<Real> task{};
    task.direction = direction.data();
    task.stride = given == dim ? 0 : dim;
    task.dim = dim;
    task.kappa = kappa;
    task.out = out.mutable_data();
    task.in_place = is_in_place(direction, out);
    task.step = step;
    task.refine_all = refine_all;
    task.key = source.next(NoiseLaw::von_mises_fisher);
    Released nogil;
    sample_von_mises_fisher(task, rows);
}

void sample_von_mises_fisher_arrays(const py::array& direction, double kappa, const py::array& out,
                                    NoiseSource& source, double step) {
    const auto both = [&](auto type) {
        using Array = decltype(type);
        return py::isinstance<Array>(direction) && py::isinstance<Array>(out);
    };
    if (both(Float64Array())) {
        sample_von_mises_fisher_as<double>(Float64Array(direction), kappa, Float64Array(out),
                                           source, step);
    } else if (both(Float32Array())) {
        sample_von_mises_fisher_as<float>(Float32Array(direction), kappa, Float32Array(out), source,
                                          step);
    } else {
        throw py::type_error("core: direction and out must be C-contiguous, float32 or float64");
    }
}

// From any object that shows 32 bytes. A message of pybind11's shows the arguments of a call that
// fits no signature: a memoryview shows nothing of its content.
NoiseKey key_in(const py::buffer& memory) {
    const py::buffer_info bytes = memory.request();
    NoiseKey key{};
    if (bytes.itemsize != 1 || bytes.size != sizeof key.words) {
        throw py::value_error("core: key of the wrong length");
    }
    const auto* byte = static_cast<const unsigned char*>(bytes.ptr);
    for (std::size_t i = 0; i < sizeof key.words; ++i) {
        key.words[i / 4] |= static_cast<std::uint32_t>(byte[i]) << (8 * (i % 4));
    }
    return key;
}

// Arrays of one length: words of the type's width, and floats.
template <class Real, class Word>
void normal_pairs(EvaluateNormals<Real, Word> kernel, const py::array& radius,
                  const py::array& angle, const py::array& first, const py::array& second,
                  const py::array& square) {
    using Words = py::array_t<Word, py::array::c_style>;
    using Reals = py::array_t<Real, py::array::c_style>;
    const bool fits = py::isinstance<Words>(radius) && py::isinstance<Words>(angle) &&
                      py::isinstance<Reals>(first) && py::isinstance<Reals>(second) &&
                      py::isinstance<Reals>(square);
    for (const py::array* array : {&angle, &first, &second, &square}) {
        if (!fits || array->size() != radius.size()) {
            throw py::type_error("core: words and floats of one length and width expected");
        }
    }
    const Words words(radius), angles(angle);
    Reals x(first), y(second), r(square);
    Released nogil;
    kernel(words.data(), angles.data(), static_cast<std::size_t>(words.size()), x.mutable_data(),
           y.mutable_data(), r.mutable_data());
}

py::array_t<std::uint32_t> keystream(const py::buffer& memory, std::uint64_t stream,
                                     std::uint64_t first, std::uint64_t batches) {
    NoiseKey key = key_in(memory);
    key.stream = stream;
    py::array_t<std::uint32_t> words(static_cast<py::ssize_t>(batches * 256));
    std::uint32_t* out = words.mutable_data();
    Released nogil;
    constexpr std::uint64_t kBatches = 1 << 14;  // milliseconds
    for (std::uint64_t done = 0; done < batches; done += kBatches) {
        poll();
        sampling_kernels().keystream(key, first + done, std::min(kBatches, batches - done),
                                     out + done * 256);
    }
    return words;
}

// What NumPy's generators draw from, `bitgen_t` of its documented C interface
// (numpy/random/bitgen.h, of which the layout is for ever), in a capsule of the name that they ask
// for. Whoever holds the capsule holds the source.
struct NumpyBits {
    void* state;
    std::uint64_t (*next_uint64)(void*);
    std::uint32_t (*next_uint32)(void*);
    double (*next_double)(void*);
    std::uint64_t (*next_raw)(void*);
};

struct HeldBits {
    py::object source;
    BitStream stream;
    NumpyBits bits;
};

py::capsule numpy_capsule(const py::object& source) {
    const auto next64 = [](void* of) { return static_cast<BitStream*>(of)->next64(); };
    const auto next32 = [](void* of) { return static_cast<BitStream*>(of)->next32(); };
    const auto next_double = [](void* of) { return static_cast<BitStream*>(of)->next_double(); };
    auto held =
        std::unique_ptr<HeldBits>(new HeldBits{source, BitStream(source.cast<NoiseSource&>()), {}});
    held->bits = {&held->stream, next64, next32, next_double, next64};
    py::capsule capsule(&held->bits, "BitGenerator", [](PyObject* self) {
        delete static_cast<HeldBits*>(PyCapsule_GetContext(self));
    });
    PyCapsule_SetContext(capsule.ptr(), held.release());
    return capsule;
}

}  // namespace

void bind_random(py::module_ m) {
    using py::arg;
    using Array = const py::array&;
    using Source = NoiseSource&;
    using Step = const std::optional<Float64Array>&;
    using Low = const std::optional<Float64Array>&;

    py::class_<NoiseSource>(m, "NoiseSource")
        .def(py::init())
        .def(py::init([](const py::buffer& key, std::uint64_t drawn) {
                 return std::make_unique<NoiseSource>(key_in(key), drawn);
             }),
             arg("key"), arg("drawn") = 0)
        .def_property_readonly("is_seeded", &NoiseSource::is_seeded)
        // The source of the next array alone, which it gives again and again.
        .def("reserve", &NoiseSource::reserve)
        // Of such a source, what it is made of again: a secret.
        .def("reserved",
             [](const NoiseSource& source) {
                 const NoiseKey key = source.reserved();
                 char bytes[sizeof key.words];
                 for (std::size_t i = 0; i < sizeof bytes; ++i) {
                     bytes[i] = static_cast<char>(key.words[i / 4] >> (8 * (i % 4)));
                 }
                 auto result = py::make_tuple(py::bytes(bytes, sizeof bytes), key.stream);
                 erase(bytes, sizeof bytes);
                 return result;
             })
        .def_static(
            "of_reserved",
            [](const py::buffer& memory, std::uint64_t number) {
                NoiseKey key = key_in(memory);
                key.stream = number;
                return std::make_unique<NoiseSource>(key);
            },
            arg("key"), arg("number"));
    m.def("numpy_capsule", numpy_capsule, arg("source"));
    // Words of keystream batches first, first + 1, ...; block 16 b + lane of the stream has its
    // words at [b, 0..15, lane].
    m.def("chacha20_keystream", keystream, arg("key"), arg("stream"), arg("first"), arg("batches"));
    // n unit as theta + low, less a multiple of the step, which join_integers adds to the integers
    // sampled: into int64, or times the step into float64.
    m.def(
        "split_integers",
        [](const Int64Array& n, double unit, const Float64Array& step, Float64Array theta,
           Float64Array low) {
            const std::size_t count = length(n);
            check_lengths(count, theta, low);
            split_integers(n.data(), unit, operand(step, count), count, theta.mutable_data(),
                           low.mutable_data());
        },
        arg("n"), arg("unit"), arg("step"), arg("theta").noconvert(), arg("low").noconvert());
    m.def(
        "join_integers",
        [](const Int64Array& n, double unit, const Float64Array& step, const Int64Array& noise,
           Array out) {
            const std::size_t count = length(n);
            check_lengths(count, noise);
            const Operand steps = operand(step, count);
            const auto join = [&](auto to) {
                check_lengths(count, to);
                join_integers(n.data(), unit, steps, noise.data(), count, to.mutable_data());
            };
            if (py::isinstance<Int64Array>(out)) return join(Int64Array(out));
            if (py::isinstance<Float64Array>(out)) return join(Float64Array(out));
            throw py::type_error("core: out must be a C-contiguous float64 or int64 array");
        },
        arg("n"), arg("unit"), arg("step"), arg("noise"), arg("out"));
    // For tests: samples on a grid are the same, but slow.
    m.def("set_refine_all", [](bool on) { refine_all = on; }, arg("on"));
    m.def(
        "normal_pairs",
        [](Array radius, Array angle, Array z1, Array z2, Array square) {
            if (py::isinstance<Float32Array>(square)) {
                normal_pairs(grid_kernels().float32_pairs, radius, angle, z1, z2, square);
            } else {
                normal_pairs(grid_kernels().float64_pairs, radius, angle, z1, z2, square);
            }
        },
        arg("radius"), arg("angle"), arg("z1"), arg("z2"), arg("square"));
    const SamplingKernels& plain = sampling_kernels();
    const GridKernels& grid = grid_kernels();
    const GridConditionedKernels& conditioned = grid_truncated();
    const LetterKernels& letters = letter_kernels();
    def_noise(m, "uniform", NoiseLaw::uniform, plain.uniform);
    def_noise(m, "standard_normal", NoiseLaw::standard_normal, plain.standard_normal);
    def_sampler(m, "sample_gaussian", NoiseLaw::gaussian, plain.gaussian, grid.gaussian,
                Holds::integers_too, "sigma");
    def_sampler(m, "sample_stochastic_sign", NoiseLaw::stochastic_sign, plain.stochastic_sign,
                letters.stochastic_sign, Holds::floats, "sigma");
    def_sampler(m, "sample_rectified_gaussian", NoiseLaw::rectified_gaussian,
                plain.rectified_gaussian, grid.rectified_gaussian, Holds::floats, "sigma", "lower",
                "upper");
    def_sampler(m, "sample_truncated_gaussian", NoiseLaw::truncated_gaussian,
                plain.truncated_gaussian, conditioned.truncated_gaussian, Holds::floats, "sigma",
                "lower", "upper");
    def_sampler(m, "sample_bounded_laplace", NoiseLaw::bounded_laplace, plain.bounded_laplace,
                conditioned.bounded_laplace, Holds::floats, "scale", "lower", "upper");
    m.def(
        "sample_quantized_gaussian",
        [](Array theta, Array sigma, Array lower, Array upper, std::int64_t levels, Array out,
           Source source, Step step, Low low, std::uint64_t first) {
            const Place place{NoiseLaw::quantized_gaussian, &theta, out, source, step, low, first};
            sample(sampling_kernels().quantized_gaussian, letter_kernels().quantized_gaussian,
                   Holds::floats, place, [&](auto& task) {
                       task.sigma = parameter(sigma, out);
                       task.lower = parameter(lower, out);
                       task.upper = parameter(upper, out);
                       task.levels = static_cast<double>(levels);
                   });
        },
        arg("theta"), arg("sigma"), arg("lower"), arg("upper"), arg("levels"), arg("out"),
        arg("source"), arg("step") = py::none(), arg("low") = py::none(), arg("first") = 0);
    // direction: of out's shape, or one for all rows. On a grid where step is not 0.
    m.def("sample_von_mises_fisher", sample_von_mises_fisher_arrays, arg("direction"), arg("kappa"),
          arg("out"), arg("source"), arg("step") = 0.0);
}

}  // namespace tightnoise
