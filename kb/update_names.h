// The names that one commit changes: which label and alias facts came and went, and which IRIs came into use
// or are no longer used. For the .cpp files of kb/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/dictionary.h"
#include "kb/entity_index.h"
#include "kb/update_facts.h"

namespace askbase::kb {

class NameCommit final : public FactListener {
 public:
  // new_aliases: predicates that give aliases from this commit on. fresh: as in FactCommit.
  NameCommit(const Snapshot& before, const Dictionary& dictionary, bool fresh, std::size_t threads);
  base::Status open(const LabelPredicates& predicates, const std::set<std::string>& new_aliases);

  base::Status changed(const Triple& triple, bool added) override;
  // After the last fact: finds what the changed facts mean for names, and writes it.
  base::Status write(Write& write, const std::vector<Use>& object_uses);

 private:
  struct LabelChange {
    TermId predicate, object;
    NameKind kind;
    bool added;
  };
  base::Status finish_subject();
  base::Result<bool> still_given(const LabelChange& gone) const;
  base::Status name_facts_of_new_aliases();
  base::Status name_identifiers(const std::vector<Use>& object_uses);
  base::Result<std::optional<EntityName>> name(TermId subject, TermId object, NameKind kind) const;

  const Snapshot& before_;
  const Dictionary& dictionary_;
  bool fresh_;
  NameChanges names_;
  std::map<TermId, NameKind> kinds_;  // of the predicates that give names
  std::set<TermId> new_aliases_;
  std::set<Triple> gone_aliases_;  // facts of new_aliases_ that the commit removes
  TermId subject_;                 // whose changes are being gathered
  Use use_;
  std::vector<LabelChange> labels_;  // of subject_
  std::vector<Use> subject_uses_;    // IRIs, ascending
};

}  // namespace askbase::kb
