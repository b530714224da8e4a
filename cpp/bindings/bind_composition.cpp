#include <algorithm>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "cost/composition.hpp"
#include "cost/lattice_tail.hpp"
#include "cost/loss_products.hpp"

namespace tightnoise {
namespace {

// Three arrays of one length.
Releases releases_of(const Float64Array& epsilon, const Float64Array& delta,
                     const Float64Array& count) {
    const std::size_t n = length(epsilon);
    check_lengths(n, delta, count);
    return {epsilon.data(), delta.data(), count.data(), n};
}

// A function of releases, given as three arrays of one length, and a number.
void def_of_releases(py::module_& m, const char* name, double (*function)(const Releases&, double),
                     const char* argument) {
    m.def(
        name,
        [function](const Float64Array& epsilon, const Float64Array& delta,
                   const Float64Array& count, double at) {
            const Releases releases = releases_of(epsilon, delta, count);
            Released nogil;
            return function(releases, at);
        },
        py::arg("epsilon"), py::arg("delta"), py::arg("count"), py::arg(argument));
}

// A function of a privacy loss on a lattice, and a number.
void def_of_lattice(py::module_& m, const char* name,
                    double (*function)(const LatticeLoss&, double), const char* argument) {
    m.def(
        name,
        [function](const Float64Array& mass, double extra, double beyond, double first,
                   double spacing, double tilt, double log_scale, double at) {
            if (length(mass) == 0) throw py::type_error("core: a lattice needs a point");
            const LatticeLoss loss{mass.data(), length(mass), extra, beyond,
                                   first,       spacing,      tilt,  log_scale};
            Released nogil;
            return function(loss, at);
        },
        py::arg("mass"), py::arg("extra"), py::arg("beyond"), py::arg("first"), py::arg("spacing"),
        py::arg("tilt"), py::arg("log_scale"), py::arg(argument));
}

// The same of epsilons that rise.
Float64Array log_deltas(const Float64Array& mass, double extra, double beyond, double first,
                        double spacing, double tilt, double log_scale,
                        const Float64Array& epsilons) {
    if (length(mass) == 0) throw py::type_error("core: a lattice needs a point");
    const LatticeLoss loss{mass.data(), length(mass), extra, beyond,
                           first,       spacing,      tilt,  log_scale};
    Float64Array found(epsilons.size());
    double* const out = found.mutable_data();
    Released nogil;
    lattice_log_deltas(loss, epsilons.data(), length(epsilons), out);
    return found;
}

LossAtoms atoms_of(const Float64Array& losses, const Float64Array& masses) {
    if (length(losses) == 0) throw py::type_error("core: losses of nothing");
    check_lengths(length(losses), masses);
    return {losses.data(), masses.data(), length(losses)};
}

// The masses on a grid, and what is infinite, in either direction.
std::tuple<Float64Array, double, double> split(const Float64Array& losses,
                                               const Float64Array& masses,
                                               const Float64Array& others,
                                               const Float64Array& other_masses,
                                               const Float64Array& grid) {
    const LossAtoms a = atoms_of(losses, masses), b = atoms_of(others, other_masses);
    if (length(grid) == 0) throw py::type_error("core: a grid needs a point");
    Float64Array mass(grid.size());
    double* const out = mass.mutable_data();
    InfiniteLosses infinite{0.0, 0.0};
    {
        Released nogil;
        std::fill_n(out, length(grid), 0.0);
        infinite = split_product(a, b, grid.data(), length(grid), out);
    }
    return {mass, infinite.losses, infinite.swapped};
}

// The masses in the cells of a grid, and what their losses are by.
std::pair<Float64Array, Float64Array> merged(const Float64Array& losses, const Float64Array& masses,
                                             const Float64Array& others,
                                             const Float64Array& other_masses,
                                             const Float64Array& grid) {
    const LossAtoms a = atoms_of(losses, masses), b = atoms_of(others, other_masses);
    if (length(grid) == 0) throw py::type_error("core: a grid needs a point");
    Float64Array mass(grid.size()), less(grid.size());
    double *const out = mass.mutable_data(), *const parts = less.mutable_data();
    {
        Released nogil;
        std::fill_n(out, length(grid), 0.0);
        std::fill_n(parts, length(grid), 0.0);
        merged_product(a, b, grid.data(), length(grid), out, parts);
    }
    return {mass, less};
}

}  // namespace

void bind_composition(py::module_ m) {
    m.attr("MAX_EXACT_COUNT") = kMaxExactCount;
    m.def(
        "failure_upper",
        [](const Float64Array& epsilon, const Float64Array& delta, const Float64Array& count) {
            return failure_upper(releases_of(epsilon, delta, count));
        },
        py::arg("epsilon"), py::arg("delta"), py::arg("count"));
    def_of_releases(m, "closed_form_epsilon_upper", &closed_form_epsilon_upper, "total_delta");
    def_of_releases(m, "closed_form_delta_upper", &closed_form_delta_upper, "total_epsilon");
    def_of_releases(m, "exact_epsilon_upper", &exact_epsilon_upper, "total_delta");
    def_of_releases(m, "exact_delta_upper", &exact_delta_upper, "total_epsilon");
    def_of_lattice(m, "lattice_epsilon", &lattice_epsilon, "log_delta");
    def_of_lattice(m, "lattice_log_delta", &lattice_log_delta, "epsilon");
    m.def("lattice_log_deltas", &log_deltas, py::arg("mass"), py::arg("extra"), py::arg("beyond"),
          py::arg("first"), py::arg("spacing"), py::arg("tilt"), py::arg("log_scale"),
          py::arg("epsilons"));
    const auto def_of_atoms = [&m](const char* name, auto function) {
        m.def(name, function, py::arg("losses"), py::arg("masses"), py::arg("others"),
              py::arg("other_masses"), py::arg("grid"));
    };
    def_of_atoms("split_product", &split);
    def_of_atoms("merged_product", &merged);
}

}  // namespace tightnoise
