// The fast tier beside the accurate one: reads coordinates, writes what test_fast.py compares.
//
//     fast_bounds FUNCTION MECHANISM LEVELS < columns > results
//
// columns: theta, sigma, lower, upper, shift, alpha, each n doubles. results: the fast value, the
// bound on its relative error and the accurate value, each n doubles.
#include <cstdio>
#include <string>
#include <vector>

#include "mechanisms/divergence_kernels.cpp"

namespace tightnoise {
namespace {

std::vector<double> read_all() {
    std::vector<double> all;
    double buffer[1024];
    for (std::size_t got; (got = std::fread(buffer, sizeof(double), 1024, stdin)) > 0;) {
        all.insert(all.end(), buffer, buffer + got);
    }
    return all;
}

template <class Mechanism, class Forms>
std::vector<double> compare(const std::string& function, int levels, std::vector<double> in) {
    const std::size_t n = in.size() / 6;
    std::vector<double> out(3 * n);
    const auto column = [&](std::size_t i) { return Operand{in.data() + i * n, false, false}; };
    const MechanismOperands mechanism = {column(0), column(1), column(2), column(3), levels};
    double *value = out.data(), *bound = value + n, *accurate = bound + n;
    const bool is_renyi = function == "renyi";
    map<renyi<Mechanism>>(mechanism, column(4), column(5), 0, is_renyi ? n : 0, accurate);
    map<fisher_information<Mechanism>>(mechanism, column(4), column(5), 0, is_renyi ? 0 : n,
                                       accurate);
    using Fast = typename Forms::Renyi;
    Fast fast;
    const int cells = Forms::cells(levels);
    for_each_piece(mechanism, column(4), column(5), 0, n, Fast::lanes(cells),
                   [&](std::size_t done, std::size_t count, const LaneColumns& columns) {
                       StandardColumns x;
                       standardise(Forms::seen(columns), count, x);
                       if (is_renyi) {
                           fast.prepare(x, cells, count);
                           return fast.renyi(x, count, value + done, bound + done);
                       }
                       Forms::fisher(x, levels, count, value + done, bound + done);
                       for (std::size_t i = done; i < done + count; ++i) {
                           value[i] = value[i] / in[n + i] / in[n + i];
                       }
                   });
    return out;
}

}  // namespace
}  // namespace tightnoise

int main(int, char** arguments) {
    using namespace tightnoise;
    const std::string function = arguments[1], mechanism = arguments[2];
    const int levels = std::stoi(arguments[3]);
    const std::vector<double> in = read_all();
    const std::vector<double> out =
        mechanism == "rectified"   ? compare<Rectified, RectifiedForms>(function, levels, in)
        : mechanism == "truncated" ? compare<Truncated, TruncatedForms>(function, levels, in)
        : mechanism == "quantized" ? compare<Quantized, QuantizedForms>(function, levels, in)
                                   : compare<StochasticSign, SignForms>(function, levels, in);
    return std::fwrite(out.data(), sizeof(double), out.size(), stdout) != out.size();
}
