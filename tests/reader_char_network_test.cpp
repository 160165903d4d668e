// The character reader's networks against a second implementation over PyTorch, and gradients against
// differences.
#include <numeric>

#include "reader/char_network.h"
#include "reader/lexical_encoder.h"
#include "tests/nn_support.h"

namespace askbase::reader {
namespace {

using nlohmann::json;
using nn::Index;
using nn::Matrix;
using nn::test::difference;
using nn::test::matrix_of;

json golden(const char* part) {
  std::ifstream in(askbase::test::source_folder() / "tests/golden/reader/char.json");
  REQUIRE(in.good());
  return json::parse(in).at(part);
}

// Two contexts and three questions.
template <typename T>
void fill(const json& expected, typename CharNetwork<T>::Cache& cache) {
  cache.texts = nn::test::segments_of(expected.at("lengths").get<std::vector<Index>>());
  cache.context_of = expected.at("context_of").get<std::vector<Index>>();
  cache.x = matrix_of<T>(expected.at("x"));
  cache.pair = matrix_of<T>(expected.at("pair"));
}

CharNetworkConfig config_of(const json& expected) {
  const auto sizes = expected.at("sizes").get<std::vector<Index>>();
  return {.input = sizes[0], .pair = sizes[1], .width = sizes[2], .hidden = sizes[3], .layers = sizes[4]};
}

TEST_SUITE("reader_char_network") {
  TEST_CASE("LAC's network gives the states and the tags of a second implementation") {
    const json expected = golden("lexical");
    const auto sizes = expected.at("sizes").get<std::vector<Index>>();
    nn::Parameters<float> p;
    const LexicalEncoder encoder(
        p, {.vocabulary = sizes[0], .dimensions = sizes[1], .hidden = sizes[2], .tags = sizes[3]});
    CHECK(static_cast<std::size_t>(p.count()) == expected.at("parameters").size());
    nn::test::set_parameters(p, expected.at("parameters"));
    std::vector<std::int32_t> rows;
    nn::Segments sentences;
    for (const json& sentence : expected.at("sentences")) {
      for (const json& row : sentence) rows.push_back(row.get<std::int32_t>());
      sentences.add(static_cast<Index>(sentence.size()));
    }
    Matrix<float> y(sentences.total(), encoder.states());
    std::vector<std::uint8_t> tags(rows.size());
    LexicalEncoder::Cache cache;
    for (int round = 0; round < 2; ++round) {  // the second with a used cache
      encoder.forward(p, rows, sentences, y, tags, cache, {});
      CHECK(difference(y, matrix_of<float>(expected.at("states"))) < 2e-5);
      CHECK(tags == expected.at("tags").get<std::vector<std::uint8_t>>());
    }
    const nn::Gradients<float> g(p);
    for (nn::ParameterId id = 0; id < p.count(); ++id) CHECK_FALSE(g.wants(id));
    encoder.forward(p, {}, {}, {nullptr, 0, encoder.states()}, {}, cache, {});
    CHECK_THROWS_AS(encoder.forward(p, rows, {}, y, tags, cache, {}), std::logic_error);
  }

  TEST_CASE_TEMPLATE("the reading network gives PyTorch's scores", T, float, double) {
    const json expected = golden("network");
    nn::Parameters<T> p;
    const CharNetwork<T> network(p, config_of(expected));
    CHECK(static_cast<std::size_t>(p.count()) == expected.at("parameters").size());
    nn::test::set_parameters(p, expected.at("parameters"));
    typename CharNetwork<T>::Cache cache;
    nn::Team three(3);
    for (nn::Team* team : {&nn::one_thread(), &three}) {
      fill<T>(expected, cache);
      network.forward(p, cache, {.team = team});
      CHECK(difference(cache.scores, matrix_of<T>(expected.at("scores"))) < (sizeof(T) == 4 ? 5e-5 : 1e-8));
    }
  }

  TEST_CASE("gradients of the reading network, dropout included, are those of differences") {
    const json expected = golden("network");
    for (const bool training : {false, true}) {
      nn::Parameters<double> p;
      const CharNetwork<double> network(p, config_of(expected));
      network.initialise(p, 3);
      // Off the kinks of relu.
      for (const char* bias : {"embed.bias", "join.bias"}) {
        const nn::View<double> b = p.mutable_view(p.find(bias));
        for (Index i = 0; i < b.size(); ++i) b.data[i] += 0.05;
      }
      CharNetwork<double>::Cache cache;
      const nn::Context context{.training = training, .dropout_key = 77};
      const Matrix<double> dy = nn::test::random_matrix<double>(13, 2, 5);
      const auto forward = [&] {
        fill<double>(expected, cache);
        network.forward(p, cache, context);
      };
      forward();
      REQUIRE(cache.scores.rows() == dy.rows());
      nn::Gradients<double> g(p);
      network.backward(p, cache, dy, g, context);
      nn::test::check_by_differences(
          p, g, nullptr, nullptr,
          [&] {
            forward();
            return nn::test::weighted_sum(cache.scores.view(), dy.view());
          },
          1e-6, 1e-6);
    }
  }

  TEST_CASE("a question's scores do not depend on what is read beside it, and empty texts do no harm") {
    const json expected = golden("network");
    nn::Parameters<double> p;
    const CharNetwork<double> network(p, config_of(expected));
    network.initialise(p, 9);
    CharNetwork<double>::Cache all, one;
    fill<double>(expected, all);
    network.forward(p, all, {});
    one.texts = nn::test::segments_of({3, 4});  // the second context and question
    one.context_of = {0};
    one.x.resize(7, all.x.cols());
    std::copy_n(all.x.row(5), 3 * all.x.cols(), one.x.row(0));
    std::copy_n(all.x.row(10), 4 * all.x.cols(), one.x.row(3));
    one.pair.resize(3, all.pair.cols());
    std::copy_n(all.pair.row(5), 3 * all.pair.cols(), one.pair.row(0));
    network.forward(p, one, {});
    CHECK(difference(one.scores.view(), nn::View<const double>(all.scores).rows_from(5, 3)) < 1e-12);
    // A question without characters, and a context without.
    one.texts = nn::test::segments_of({3, 0});
    one.x.resize(3, all.x.cols());
    network.forward(p, one, {});
    for (Index i = 0; i < one.scores.size(); ++i) CHECK(std::isfinite(one.scores.data()[i]));
    one.texts = nn::test::segments_of({0, 3});
    one.pair.resize(0, all.pair.cols());
    network.forward(p, one, {});
    CHECK(one.scores.rows() == 0);
    one.context_of = {0, 0, 0};
    CHECK_THROWS_AS(network.forward(p, one, {}), std::logic_error);
  }
}

}  // namespace
}  // namespace askbase::reader
