#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/released.hpp"
#include "cost/contour/atoms_law.hpp"
#include "cost/contour/composition.hpp"
#include "cost/contour/fixed_size_gaussian_law.hpp"
#include "cost/contour/gaussian_law.hpp"
#include "cost/contour/grouped_gaussian_law.hpp"
#include "cost/contour/laplace_law.hpp"
#include "cost/contour/sampled_direction_law.hpp"
#include "cost/contour/sampled_gaussian_law.hpp"

namespace tightnoise {
namespace {

using contour::Composition;
using contour::Interval;
using contour::Law;
using SharedLaw = std::shared_ptr<Law>;
using Counted = std::vector<std::pair<SharedLaw, double>>;

contour::Terms terms_of(const Counted& counted) {
    contour::Terms terms;
    for (const auto& [law, count] : counted) {
        if (!law || !(count >= 0.0)) throw py::type_error("core: a law and its count");
        terms.push_back({law, count});
    }
    return terms;
}

contour::Direction direction_of(const std::string& name) {
    if (name != "remove" && name != "add") throw py::type_error("core: remove or add");
    return name == "remove" ? contour::Direction::remove : contour::Direction::add;
}

SharedLaw atoms(const Float64Array& losses, const Float64Array& given, double infinite_mass,
                bool is_log) {
    const std::size_t n = length(losses);
    check_lengths(n, given);
    std::vector<double> masses(given.data(), given.data() + n), log_masses = masses;
    for (double& mass : masses) mass = is_log ? std::exp(mass) : mass;
    for (double& mass : log_masses) mass = is_log ? mass : std::log(mass);
    using Exact = contour::AtomsLaw::Exact;
    return std::make_shared<contour::AtomsLaw>(
        std::vector<double>(losses.data(), losses.data() + n), masses, log_masses, infinite_mass,
        is_log ? Exact::log_masses : Exact::masses);
}

std::pair<double, double> epsilon(const Composition& self, double delta, double floor) {
    Released nogil;
    const Interval found = self.epsilon(delta, floor);
    return {found.lower, found.upper};
}

std::pair<double, double> delta(const Composition& self, double epsilon, double floor) {
    Released nogil;
    const Interval found = self.delta(epsilon, floor);
    return {found.lower, found.upper};
}

std::pair<Float64Array, Float64Array> deltas(const Composition& self, const Float64Array& epsilons,
                                             bool is_quick) {
    const std::size_t n = length(epsilons);
    const std::vector<double> asked(epsilons.data(), epsilons.data() + n);
    if (!std::is_sorted(asked.begin(), asked.end())) throw py::type_error("core: rising epsilons");
    std::vector<Interval> found;
    {
        Released nogil;
        found = self.deltas(asked, is_quick);
    }
    Float64Array lower(static_cast<py::ssize_t>(n)), upper(static_cast<py::ssize_t>(n));
    for (std::size_t i = 0; i < n; ++i) {
        lower.mutable_data()[i] = found[i].lower;
        upper.mutable_data()[i] = found[i].upper;
    }
    return {lower, upper};
}

}  // namespace

void bind_contour(py::module_ m) {
    py::class_<Law, SharedLaw>(m, "Law");
    m.def(
        "gaussian",
        [](double mu) -> SharedLaw { return std::make_shared<contour::GaussianLaw>(mu); },
        py::arg("mu"));
    m.def(
        "sampled_gaussian",
        [](double sigma, double rate, const std::string& direction) -> SharedLaw {
            if (!(sigma > 0.0 && rate >= 1e-100 && rate <= 1.0)) {
                throw py::type_error("core: sigma above 0 and a rate from 1e-100 to 1");
            }
            if (rate == 1.0) return std::make_shared<contour::GaussianLaw>(1.0 / sigma);
            return std::make_shared<contour::SampledGaussianLaw>(sigma, rate,
                                                                 direction_of(direction));
        },
        py::arg("sigma"), py::arg("rate"), py::arg("direction"));
    m.def(
        "fixed_size_gaussian",
        [](double sigma, double rate) -> SharedLaw {
            if (!(sigma >= 0.1 && sigma <= 1e6 && rate >= 1e-100 && rate <= 1.0)) {
                throw py::type_error("core: sigma from 0.1 to 1e6, and a rate");
            }
            if (rate == 1.0) return std::make_shared<contour::GaussianLaw>(1.0 / sigma);
            return std::make_shared<contour::FixedSizeGaussianLaw>(sigma, rate);
        },
        py::arg("sigma"), py::arg("rate"));
    m.def(
        "grouped_gaussian",
        [](double sigma, double rate, int ours, int theirs) -> SharedLaw {
            constexpr int kMost = 16;
            if (!(sigma >= 0.1 && sigma <= 1e6 && rate >= 1e-100 && rate <= 1.0) ||
                !(ours >= 0 && ours <= kMost && theirs >= 0 && theirs <= kMost) ||
                ours + theirs == 0) {
                throw py::type_error("core: sigma from 0.1 to 1e6, a rate, and 1 to 16 records");
            }
            if (rate == 1.0) return std::make_shared<contour::GaussianLaw>((ours + theirs) / sigma);
            return std::make_shared<contour::GroupedGaussianLaw>(sigma, rate, ours, theirs);
        },
        py::arg("sigma"), py::arg("rate"), py::arg("ours"), py::arg("theirs"));
    m.def(
        "sampled_direction",
        [](double kappa, double dim, double half_chord, double rate,
           const std::string& direction) -> SharedLaw {
            const double along = kappa * half_chord;
            if (!(kappa <= 1e8 && dim >= 2.0 && dim <= 0x1p53 && half_chord <= 1.0 &&
                  along >= 1e-12 && rate >= 1e-100 && rate <= 1.0)) {
                throw py::type_error("core: kappa half_chord from 1e-12, kappa to 1e8, a rate");
            }
            return std::make_shared<contour::SampledDirectionLaw>(kappa, dim, half_chord, rate,
                                                                  direction_of(direction));
        },
        py::arg("kappa"), py::arg("dim"), py::arg("half_chord"), py::arg("rate"),
        py::arg("direction"));
    m.def(
        "laplace",
        [](double epsilon) -> SharedLaw { return std::make_shared<contour::LaplaceLaw>(epsilon); },
        py::arg("epsilon"));
    m.def("atoms", &atoms, py::arg("losses"), py::arg("masses"), py::arg("infinite_mass") = 0.0,
          py::arg("is_log") = false);
    py::class_<Composition>(m, "Composition")
        .def(py::init([](const Counted& upper, const std::optional<Counted>& lower, double tilt,
                         double most_work) {
                 if (!(tilt > 0.0)) throw py::type_error("core: a tilt above 0");
                 if (!lower) return Composition(terms_of(upper), std::nullopt, tilt, most_work);
                 return Composition(terms_of(upper), terms_of(*lower), tilt, most_work);
             }),
             py::arg("upper"), py::arg("lower") = std::nullopt, py::arg("tilt") = 1.0,
             py::arg("most_work") = contour::kInfinite)
        .def("epsilon", &epsilon, py::arg("delta"), py::arg("floor") = 0.0)
        .def("delta", &delta, py::arg("epsilon"), py::arg("floor") = 0.0)
        .def(
            "tilt_at_delta",
            [](const Composition& self, double delta) { return self.upper().tilt_at_delta(delta); },
            py::arg("delta"))
        .def(
            "tilt_at_epsilon",
            [](const Composition& self, double epsilon) {
                return self.upper().tilt_at_epsilon(epsilon);
            },
            py::arg("epsilon"))
        .def("deltas", &deltas, py::arg("epsilons"), py::arg("is_quick") = false);
}

}  // namespace tightnoise
