#include "web/server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <exception>
#include <optional>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "web/api.h"
#include "web/assets.h"
#include "web/documents_route.h"
#include "web/http_server.h"

namespace askbase::web {
namespace {

using Clock = std::chrono::steady_clock;

// What a request is for; also the label "route" of the metrics.
enum Route : std::size_t {
  route_ask,
  route_read,
  route_entities,
  route_entity,
  route_similar,
  route_suggest,
  route_documents,
  route_document,
  route_livez,
  route_readyz,
  route_metrics,
  route_openapi,
  route_page,
  route_other,
  route_count
};

std::vector<std::string> route_names() {
  return {"/api/v1/ask",
          "/api/v1/read",
          "/api/v1/entities",
          "/api/v1/entities/{id}",
          "/api/v1/entities/{id}/similar",
          "/api/v1/suggest",
          "/api/v1/documents",
          "/api/v1/documents/{id}",
          "/livez",
          "/readyz",
          "/metrics",
          "/openapi.json",
          "page",
          "other"};
}

constexpr std::string_view entity_path = "/api/v1/entities/", similar_end = "/similar";
constexpr std::string_view document_path = "/api/v1/documents/";

// The page takes everything from here and runs no script of anyone else's.
constexpr std::string_view page_policy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

// raw_path: not decoded, so that an id which ends in "/similar" can be asked for with its slashes encoded.
Route route_of(std::string_view path, std::string_view raw_path) {
  struct Entry {
    std::string_view path;
    Route route;
  };
  constexpr std::array<Entry, 9> exact = {{{"/api/v1/ask", route_ask},
                                           {"/api/v1/read", route_read},
                                           {"/api/v1/documents", route_documents},
                                           {"/api/v1/entities", route_entities},
                                           {"/api/v1/suggest", route_suggest},
                                           {"/livez", route_livez},
                                           {"/readyz", route_readyz},
                                           {"/metrics", route_metrics},
                                           {"/openapi.json", route_openapi}}};
  for (const Entry& entry : exact) {
    if (path == entry.path) return entry.route;
  }
  if (path.starts_with(entity_path) && path.size() > entity_path.size()) {
    const bool similar =
        raw_path.ends_with(similar_end) && path.size() > entity_path.size() + similar_end.size();
    return similar ? route_similar : route_entity;
  }
  if (path.starts_with(document_path) && path.size() > document_path.size()) return route_document;
  return path.starts_with("/api/") ? route_other : route_page;
}

std::string_view allowed_methods(Route route) {
  if (route == route_documents || route == route_read) return "POST, OPTIONS";
  if (route == route_document) return "DELETE, OPTIONS";
  return route == route_ask ? "GET, HEAD, POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

bool is_write(Route route) { return route == route_documents || route == route_document; }

bool is_allowed(Route route, std::string_view method) {
  if (route == route_documents || route == route_read) return method == "POST";
  if (route == route_document) return method == "DELETE";
  return method == "GET" || method == "HEAD" || (route == route_ask && method == "POST");
}

class ServerImpl final : public Server {
 public:
  ServerImpl(kb::Store& store, qa::Engine& engine, const ServerOptions& options,
             const reader::VectorKeeper* vectors, const qa::TextReaders* readers)
      : options_(options),
        engine_(engine),
        metrics_(route_names()),
        assets_(options.ui_folder),
        similar_(store.storage().folder()),
        context_{engine,
                 metrics_,
                 examples_,
                 similar_,
                 options.max_question_code_points,
                 readers,
                 options.max_context_bytes},
        writing_{store, engine, options.token},
        vectors_(vectors) {}

  base::Status listen() {
    std::string& base = options_.base_path;
    while (base.ends_with('/')) base.pop_back();
    if (!base.empty() && (!base.starts_with('/') || base.find_first_of("?#% ") != std::string::npos)) {
      return base::fail(base::ErrorCode::invalid_argument,
                        "the base path \"" + base + "\" is not a plain path", "give one such as /askbase");
    }
    ASKBASE_TRY(make_openapi());
    HttpServerOptions http;
    http.host = options_.host;
    http.port = options_.port;
    http.workers = options_.workers;
    http.max_workers = std::max<std::size_t>(options_.workers, 256);
    http.body_bytes = std::max(options_.max_body_bytes, options_.max_document_bytes);
    http.handler = [this](const HttpRequest& request) { return handle(request, false).value(); };
    http.before_body = [this](const HttpRequest& request) { return handle(request, true); };
    http.refusal = [this](int status, const std::string& detail) {
      metrics_.count_request(route_other, status, 0);
      const char* kind = status == 413   ? "too-large"
                         : status == 415 ? "unsupported-media-type"
                         : status == 500 ? "internal"
                         : status == 503 ? "unavailable"
                                         : "invalid-request";
      return problem_response({status, kind, detail, {}, {}});
    };
    auto listening = HttpServer::listen(std::move(http));
    if (!listening) return tl::unexpected(std::move(listening.error()));
    http_ = std::move(*listening);
    return {};
  }

  int port() const override { return http_->port(); }
  void run() override { http_->run(); }
  void stop() override { http_->stop(); }

 private:
  // head_only: the body is still to come; a response is given only when it is not wanted.
  std::optional<HttpResponse> handle(const HttpRequest& request, bool head_only) {
    const Clock::time_point begin = Clock::now();
    Route route = route_other;
    std::optional<HttpResponse> response = guarded(request, head_only, route);
    if (!response) return std::nullopt;
    response->headers.emplace_back("X-Content-Type-Options", "nosniff");
    response->headers.emplace_back("Referrer-Policy", "no-referrer");
    if (!options_.cors_origin.empty()) {
      response->headers.emplace_back("Access-Control-Allow-Origin", options_.cors_origin);
      if (options_.cors_origin != "*") response->headers.emplace_back("Vary", "Origin");
    }
    metrics_.count_request(route, response->status,
                           std::chrono::duration<double>(Clock::now() - begin).count());
    return response;
  }

  std::optional<HttpResponse> guarded(const HttpRequest& request, bool head_only, Route& route) {
    try {
      auto response = answer(request, head_only, route);
      return response ? std::move(*response) : problem_response(response.error());
    } catch (const std::exception& error) {
      base::log_error(std::string("request failed: exception: ") + error.what());
    } catch (...) {
      base::log_error("request failed: unknown exception");
    }
    return problem_response({500, "internal", "The server failed to answer; its log says why.", {}, {}});
  }

  Outcome<std::optional<HttpResponse>> answer(const HttpRequest& request, bool head_only, Route& route) {
    if (request.target == "*") return options_response("GET, HEAD, POST, OPTIONS");
    auto query = Query::parse(request.target);
    if (!query) return tl::unexpected(query.error());
    std::string_view path = query->path();
    if (!options_.base_path.empty()) {
      if (path == options_.base_path) return redirect_to_page();
      if (!path.starts_with(options_.base_path + "/")) {
        return reject(404, "not-found", "Everything here lies below " + options_.base_path + "/ .");
      }
      path.remove_prefix(options_.base_path.size());
    }
    route = route_of(path, std::string_view(request.target).substr(0, request.target.find('?')));
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (request.method == "OPTIONS") return options_response(allowed_methods(route));
    if (!is_allowed(route, request.method)) {
      const std::string allowed(allowed_methods(route));
      return tl::unexpected<Problem>(
          Problem{405, "method-not-allowed", "This address answers " + allowed + ".", {}, allowed});
    }
    if (is_write(route)) {
      if (auto may = check_write(writing_, request); !may) return tl::unexpected(may.error());
    }
    const std::size_t largest = route == route_documents || route == route_read ? options_.max_document_bytes
                                                                                : options_.max_body_bytes;
    if (head_only) {
      // Only a question, a text and a document have a body here; that of any other request goes unread.
      if (!reads && route != route_document) {
        if (auto type = check_content_type(request); !type) return tl::unexpected(type.error());
        if (auto size = check_size(request.header("content-length"), largest); !size)
          return tl::unexpected(size.error());
      }
      return std::nullopt;
    }
    if (auto size = check_size(std::to_string(request.body.size()), largest); !size)
      return tl::unexpected(size.error());
    switch (route) {
      case route_ask:
        return json(reads ? ask_query(context_, *query) : ask_json(context_, request));
      case route_read:
        return json(read_json(context_, request));
      case route_entities:
        return json(search_entities(context_, *query));
      case route_entity:
        return json(show_entity(context_, std::string(path.substr(entity_path.size())), *query));
      case route_similar: {
        path.remove_suffix(similar_end.size());
        return json(similar_entities(context_, std::string(path.substr(entity_path.size())), *query));
      }
      case route_suggest:
        return json(suggest(context_, *query));
      case route_documents:
        return put_document(writing_, request);
      case route_document: {
        if (auto none = query->allow({}); !none) return tl::unexpected(none.error());
        return delete_document(writing_, std::string(path.substr(document_path.size())));
      }
      case route_livez:
        return json(std::string(R"({"status":"ok"})"));
      case route_readyz:
        return readiness();
      case route_metrics:
        return metrics_text();
      case route_openapi:
        return cacheable(request, {"application/json", openapi_, weak_etag(openapi_)});
      default:
        return page(request, path);
    }
  }

  static Outcome<void> check_size(std::string_view bytes, std::size_t largest) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
    if (error != std::errc::result_out_of_range && size <= largest) return {};
    return reject(413, "too-large", "The body is longer than " + std::to_string(largest) + " bytes.");
  }

  static Outcome<std::optional<HttpResponse>> json(ApiResult body) {
    if (!body) return tl::unexpected(body.error());
    return HttpResponse{200, "application/json", std::move(*body), {{"Cache-Control", "no-store"}}};
  }

  HttpResponse options_response(std::string_view allowed) const {
    HttpResponse response{204, "", "", {{"Allow", std::string(allowed)}}};
    if (!options_.cors_origin.empty()) {
      response.headers.emplace_back("Access-Control-Allow-Methods", allowed);
      response.headers.emplace_back("Access-Control-Allow-Headers", "Content-Type, Authorization");
      response.headers.emplace_back("Access-Control-Max-Age", "600");
    }
    return response;
  }

  HttpResponse redirect_to_page() const {
    // Relative, so that it holds whatever host and scheme the client sees.
    const std::string last = options_.base_path.substr(options_.base_path.rfind('/') + 1);
    return {308, "", "", {{"Location", last + "/"}}};
  }

  HttpResponse readiness() const {
    const auto view = engine_.view();
    const bool ready = view != nullptr && !http_->stopping();
    base::Json body = {{"status", ready ? "ready" : "stopping"}};
    if (view) body["kb"] = {{"facts", view->facts()}, {"version", view->version()}};
    if (view) body["passages"] = passages_json();
    return {ready ? 200 : 503, "application/json", base::dump_json(body), {{"Cache-Control", "no-store"}}};
  }

  // How passages are found: by words alone as long as their vectors of this model are being made.
  base::Json passages_json() const {
    const auto index = reader::PassageIndex::open(writing_.store.storage().snapshot());
    if (!index) return {{"problem", index.error().message}};
    base::Json json = {{"documents", index->documents()}, {"passages", index->passages()}};
    if (vectors_ == nullptr) {
      json["found_by"] = "words";
      return json;
    }
    const reader::VectorKeeper::Status status = vectors_->status();
    json["found_by"] = status.complete && status.vectors > 0 ? "words and vectors" : "words";
    json["vectors"] = {{"ready", status.vectors}, {"missing", status.missing}, {"complete", status.complete}};
    if (!status.problem.empty()) json["vectors"]["problem"] = "they cannot be made; the log says why";
    return json;
  }

  HttpResponse metrics_text() const {
    const auto view = engine_.view();
    Metrics::Gauges gauges{view ? view->facts() : 0, view ? view->version() : 0, http_->connections()};
    return {200,
            "text/plain; version=0.0.4; charset=utf-8",
            metrics_.text(gauges),
            {{"Cache-Control", "no-store"}}};
  }

  Outcome<std::optional<HttpResponse>> page(const HttpRequest& request, std::string_view path) const {
    std::string_view name = path.substr(1);
    if (name.empty()) name = "index.html";
    if (name == "docs") name = "docs.html";
    auto asset = assets_.find(name);
    if (!asset) {
      return reject(404, "not-found",
                    "There is nothing at " + std::string(path) + ". The API is described at docs.");
    }
    return cacheable(request, std::move(*asset));
  }

  static HttpResponse cacheable(const HttpRequest& request, Asset asset) {
    HttpResponse response{200, std::string(asset.content_type), "", {}};
    response.headers.emplace_back("ETag", asset.etag);
    response.headers.emplace_back("Cache-Control", "no-cache");  // kept, and asked about each time
    response.headers.emplace_back("Vary", "Accept-Encoding");
    response.headers.emplace_back("Content-Security-Policy", page_policy);
    response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
    const std::string_view known = request.header("if-none-match");
    if (known == "*" || known.find(asset.etag) != std::string_view::npos) {
      response.status = 304;
      response.content_type.clear();
    } else {
      response.body = std::move(asset.content);
    }
    return response;
  }

  base::Status make_openapi() {
    const auto file = Assets("").find("openapi.json");
    ASKBASE_ASSIGN(base::Json json, base::parse_json(file ? file->content : "{}"));
    json["info"]["version"] = ASKBASE_VERSION;
    json["servers"] = base::Json::array({{{"url", options_.base_path.empty() ? "/" : options_.base_path}}});
    openapi_ = base::dump_json(json, 2);
    return {};
  }

  ServerOptions options_;
  qa::Engine& engine_;
  Metrics metrics_;
  Assets assets_;
  ExampleQuestions examples_;
  SimilarEntities similar_;
  ApiContext context_;
  WriteContext writing_;
  const reader::VectorKeeper* vectors_;
  std::string openapi_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace

base::Result<std::unique_ptr<Server>> Server::start(kb::Store& store, qa::Engine& engine,
                                                    const ServerOptions& options,
                                                    const reader::VectorKeeper* vectors,
                                                    const qa::TextReaders* readers) {
  auto server = std::make_unique<ServerImpl>(store, engine, options, vectors, readers);
  if (base::Status listening = server->listen(); !listening)
    return tl::unexpected(std::move(listening.error()));
  return server;
}

}  // namespace askbase::web
