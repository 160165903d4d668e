#include "kb/rdf_reader.h"

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <serd/serd.h>
#include <string_view>
#include <utility>

#include "kb/ntriples_reader.h"
#include "kb/turtle_filter.h"

namespace askbase::kb {
namespace {

const std::uint8_t* bytes(const char* text) { return reinterpret_cast<const std::uint8_t*>(text); }
std::string_view view(const std::uint8_t* start, std::size_t size) {
  return {reinterpret_cast<const char*>(start), size};
}
std::string_view view(const SerdNode& node) { return view(node.buf, node.n_bytes); }

// One pass of serd over a file. After an error the parser is made anew, for what it has on its stack is of no
// use any more; prefixes and base stay.
class TurtleReader {
 public:
  TurtleReader(base::Input& input, bool trig, const std::string& base_iri, const BlankLabels& blanks,
               FactSink& sink)
      : filter_(input, sink), trig_(trig), base_iri_(base_iri), blanks_(blanks), sink_(sink) {
    env_.reset(serd_env_new(nullptr));
  }

  base::Status read() {
    while (true) {
      start_parser();
      SerdStatus status = SERD_SUCCESS;
      do {
        status = serd_reader_read_chunk(reader_.get());
      } while (status == SERD_SUCCESS && status_ && filter_.status());
      ASKBASE_TRY(std::move(status_));
      ASKBASE_TRY(filter_.status());
      if (status <= SERD_FAILURE && reason_.empty()) return {};
      if (reason_.empty()) reason_ = "syntax error";
      ASKBASE_TRY(sink_.bad(filter_.line(), reason_ + " (column " + std::to_string(filter_.column()) + ")"));
      reason_.clear();
      filter_.skip_statement();
      ASKBASE_TRY(filter_.status());
    }
  }

 private:
  struct FreeReader {
    void operator()(SerdReader* reader) const { serd_reader_free(reader); }
  };
  struct FreeEnv {
    void operator()(SerdEnv* env) const { serd_env_free(env); }
  };

  static TurtleReader& self(void* handle) { return *static_cast<TurtleReader*>(handle); }

  void start_parser() {
    reader_.reset(serd_reader_new(trig_ ? SERD_TRIG : SERD_TURTLE, this, nullptr, on_base, on_prefix,
                                  on_statement, nullptr));
    serd_reader_set_strict(reader_.get(), true);
    serd_reader_set_error_sink(reader_.get(), on_error, this);
    ++parsers_;
    // A page of one byte, so that the filter knows where the parser stands.
    serd_reader_start_source_stream(reader_.get(), on_read, on_read_error, this, bytes("file"), 1);
  }

  static std::size_t on_read(void* buffer, std::size_t, std::size_t, void* handle) {
    return self(handle).filter_.next(*static_cast<char*>(buffer)) ? 1 : 0;
  }
  static int on_read_error(void* handle) { return self(handle).filter_.status() ? 0 : 1; }

  static SerdStatus on_error(void* handle, const SerdError* error) {
    TurtleReader& reader = self(handle);
    if (!reader.reason_.empty()) return SERD_SUCCESS;  // what follows from the first one
    char text[256];
    std::vsnprintf(text, sizeof text, error->fmt, *error->args);
    reader.reason_ = text;
    while (!reader.reason_.empty() && reader.reason_.back() == '\n') reader.reason_.pop_back();
    if (reader.reason_.empty()) reader.reason_ = "syntax error";
    return SERD_SUCCESS;
  }

  SerdStatus refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return SERD_ERR_BAD_SYNTAX;
  }

  static SerdStatus on_base(void* handle, const SerdNode* iri) {
    TurtleReader& reader = self(handle);
    std::string base = resolve_iri(reader.base_iri_, view(*iri));
    if (!is_absolute_iri(base)) return reader.refuse("<" + base + "> is no absolute IRI");
    reader.base_iri_ = std::move(base);
    return SERD_SUCCESS;
  }

  static SerdStatus on_prefix(void* handle, const SerdNode* name, const SerdNode* iri) {
    TurtleReader& reader = self(handle);
    const std::string full = resolve_iri(reader.base_iri_, view(*iri));
    if (!is_absolute_iri(full)) return reader.refuse("<" + full + "> is no absolute IRI");
    const SerdNode node = serd_node_from_string(SERD_URI, bytes(full.c_str()));
    const SerdStatus status = serd_env_set_prefix(reader.env_.get(), name, &node);
    return status == SERD_SUCCESS ? status : reader.refuse("a prefix that cannot be declared");
  }

  static SerdStatus on_statement(void* handle, SerdStatementFlags, const SerdNode* graph,
                                 const SerdNode* subject, const SerdNode* predicate, const SerdNode* object,
                                 const SerdNode* datatype, const SerdNode* lang) {
    return self(handle).statement(graph, *subject, *predicate, *object, datatype, lang);
  }

  SerdStatus statement(const SerdNode* graph, const SerdNode& subject, const SerdNode& predicate,
                       const SerdNode& object, const SerdNode* datatype, const SerdNode* lang) {
    // The library goes on for a while after an error: what it makes of the rest is no fact of the file.
    if (!reason_.empty()) return SERD_ERR_BAD_SYNTAX;
    Fact& fact = sink_.slot();
    fact.graph.clear();
    fact.row = filter_.line();
    if (graph != nullptr && graph->type != SERD_NOTHING) {
      if (!resource(*graph, graph_)) return SERD_ERR_BAD_SYNTAX;
      if (graph_.kind == TermKind::blank) fact.graph = "_:";
      fact.graph += graph_.value;
    }
    if (!resource(subject, fact.subject) || !resource(predicate, fact.predicate)) return SERD_ERR_BAD_SYNTAX;
    if (object.type != SERD_LITERAL) {
      if (!resource(object, fact.object)) return SERD_ERR_BAD_SYNTAX;
    } else if (!literal(object, datatype, lang, fact.object)) {
      return SERD_ERR_BAD_SYNTAX;
    }
    if (filter_.has_marker() && is_marked(fact)) return SERD_SUCCESS;  // told already
    if (auto added = sink_.add(); !added) {
      status_ = std::move(added);
      return SERD_ERR_INTERNAL;
    }
    return SERD_SUCCESS;
  }

  static bool is_marked(const Fact& fact) {
    for (const std::string* text : {&fact.subject.value, &fact.predicate.value, &fact.object.value,
                                    &fact.object.datatype, &fact.object.lang, &fact.graph}) {
      if (text->find(TurtleFilter::marker) != std::string::npos) return true;
    }
    return false;
  }

  bool resource(const SerdNode& node, Term& term) {
    term.datatype.clear();
    term.lang.clear();
    term.kind = node.type == SERD_BLANK ? TermKind::blank : TermKind::iri;
    if (node.type == SERD_BLANK) return blank(view(node), term.value);
    return iri(node, term.value);
  }

  // What the library calls b1, b2 ... are the nodes without a label; the filter has marked those of the file
  // that look alike with an x.
  bool blank(std::string_view label, std::string& out) {
    if (!label.empty() && label.front() == 'b') {
      // No label of a file starts with a dot.
      const std::string parser = parsers_ > 1 ? std::to_string(parsers_) + "." : "";
      blanks_.write("." + parser + std::string(label.substr(1)), out);
      return true;
    }
    if (!label.empty() && label.front() == 'x') label.remove_prefix(1);
    // The library passes a label on before it tells of a character in it that is wrong.
    if (!is_blank_label(label)) {
      refuse("a character that a blank node's label may not hold");
      return false;
    }
    blanks_.write(label, out);
    return true;
  }

  bool iri(const SerdNode& node, std::string& out) {
    if (node.type == SERD_CURIE) {
      SerdChunk prefix, suffix;
      if (serd_env_expand(env_.get(), &node, &prefix, &suffix) != SERD_SUCCESS) {
        refuse("the prefix of " + std::string(view(node)) + " is not declared");
        return false;
      }
      out.assign(view(prefix.buf, prefix.len));
      out.append(view(suffix.buf, suffix.len));
    } else if (node.type == SERD_URI && has_scheme(view(node))) {
      out.assign(view(node));
    } else if (node.type == SERD_URI) {
      out = resolve_iri(base_iri_, view(node));
    } else {
      refuse("'" + std::string(view(node)) + "' cannot stand here");
      return false;
    }
    if (is_absolute_iri(out)) return true;
    refuse("<" + out + "> is no absolute IRI");
    return false;
  }

  bool literal(const SerdNode& node, const SerdNode* datatype, const SerdNode* lang, Term& term) {
    term.kind = TermKind::literal;
    term.value.assign(view(node));
    term.datatype.clear();
    term.lang.clear();
    if (lang != nullptr && lang->n_bytes > 0) {
      term.lang.assign(view(*lang));
      if (!valid_language_tag(term.lang)) {
        refuse("@" + term.lang + " is no language tag");
        return false;
      }
      for (char& c : term.lang) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      }
    } else if (datatype != nullptr && datatype->type != SERD_NOTHING) {
      if (!iri(*datatype, term.datatype)) return false;
      if (term.datatype == std::string(iri::xsd) + "string") term.datatype.clear();
    }
    return true;
  }

  TurtleFilter filter_;
  bool trig_;
  std::string base_iri_;
  const BlankLabels& blanks_;
  FactSink& sink_;
  std::unique_ptr<SerdEnv, FreeEnv> env_;
  std::unique_ptr<SerdReader, FreeReader> reader_;
  int parsers_ = 0;
  base::Status status_;  // what the sink said
  std::string reason_;   // of the first error since the parser was made
  Term graph_;
};

}  // namespace

base::Status read_rdf(base::Input& input, Format format, const std::string& base_iri,
                      const BlankLabels& blanks, FactSink& sink) {
  switch (format) {
    case Format::ntriples:
      return read_ntriples(input, false, blanks, sink);
    case Format::nquads:
      return read_ntriples(input, true, blanks, sink);
    case Format::turtle:
    case Format::trig:
      return TurtleReader(input, format == Format::trig, base_iri, blanks, sink).read();
    default:
      return base::fail(base::ErrorCode::internal, input.name() + ": not a format of RDF");
  }
}

}  // namespace askbase::kb
