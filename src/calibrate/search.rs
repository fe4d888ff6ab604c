//! The way from the strictest view to one in which all runs are the same.

use super::compare::{all_same, blocks_of};
use super::evidence::Form;
use super::reason::{Setting, WAITING};
use super::treated::{Treated, by_program, common};
use super::varying::{tally, varying};
use super::{Calibration, Evidence, Finding, Unsettled, Who, temporary};
use crate::syscall::Signatures;
use crate::trace::{Block, By, Deed, Level, Normalised, TextPart, Treatment, View};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the strictest view in which the runs of each row are the same. Of `view` is kept what it shows at all, and its temporary names; its
/// levels are found anew.
///
/// # Errors
/// [`Unsettled`].
pub fn calibrate(
    evidence: &Evidence,
    view: &View,
    signatures: &Signatures<'_>,
) -> Result<Calibration, Unsettled> {
    let mut search = Search {
        evidence,
        signatures,
        base: View {
            level: Level::Sequence,
            levels: Vec::new(),
            by: By::Process,
            ..view.clone()
        },
        by: By::Process,
        temporary: Vec::new(),
        treated: BTreeMap::new(),
        findings: BTreeMap::new(),
    };
    loop {
        let rows = search.rows(&search.view());
        if rows.iter().all(Vec::is_empty) {
            return Err(Unsettled::NoRuns);
        }
        match search.difference(&rows)? {
            None => return Ok(search.finish(&rows)),
            Some(Difference::Processes) => search.take_together(),
            Some(Difference::Of(all)) => {
                for who in all {
                    search.loosen(who, &rows);
                }
            }
        }
    }
}

/// In what runs differ.
enum Difference {
    /// In which processes there are, and whose children they are.
    Processes,
    /// In what these do.
    Of(BTreeSet<Who>),
}

/// The forms of a row in some view.
type Row<'a> = Vec<(&'a Form, Normalised)>;

struct Search<'a> {
    evidence: &'a Evidence,
    signatures: &'a Signatures<'a>,
    base: View,
    by: By,
    temporary: Vec<(String, String)>,
    treated: BTreeMap<Who, Treated>,
    findings: BTreeMap<Who, Finding>,
}

impl<'a> Search<'a> {
    fn view(&self) -> View {
        let treatments = self.treated.iter().map(|(who, treated)| Treatment {
            of: who.pattern(),
            level: treated.level,
            hidden: treated.hidden.iter().cloned().collect(),
        });
        let found = self.temporary.iter().map(|(glob, _)| glob.clone());
        View {
            levels: treatments.collect(),
            by: self.by,
            temporary: self.base.temporary.iter().cloned().chain(found).collect(),
            ..self.base.clone()
        }
    }

    fn rows(&self, view: &View) -> Vec<Row<'a>> {
        let normalise = |form: &'a Form| (form, form.trace.normalise(view, self.signatures));
        let rows = self.evidence.rows();
        rows.map(|(_, forms)| forms.iter().map(normalise).collect())
            .collect()
    }

    /// The first difference in the order of the text.
    fn difference(&self, rows: &[Row<'_>]) -> Result<Option<Difference>, Unsettled> {
        for row in rows {
            let texts: Vec<Vec<TextPart<'_>>> = row.iter().map(|(_, run)| run.parts()).collect();
            let Some((first, others)) = texts.split_first() else {
                continue;
            };
            let is_same = |a: &[TextPart<'_>], b: &[TextPart<'_>]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| heading(a) == heading(b))
            };
            if !others.iter().all(|other| is_same(first, other)) {
                return match self.by {
                    By::Process => Ok(Some(Difference::Processes)),
                    By::Program => self.first_strangers(&texts).map(Some),
                };
            }
            let differs = |place: &usize| {
                let text = |parts: &[TextPart<'_>]| parts.get(*place).map(|part| part.text.clone());
                others.iter().any(|other| text(other) != text(first))
            };
            let place = (0..first.len()).find(differs);
            if let Some(part) = place.and_then(|place| first.get(place)) {
                let who = self.who(part);
                return Ok(Some(Difference::Of(BTreeSet::from([who]))));
            }
        }
        Ok(None)
    }

    /// Where the processes differ that are still shown one by one: whoever stands at the first place at which they do.
    fn first_strangers(&self, texts: &[Vec<TextPart<'_>>]) -> Result<Difference, Unsettled> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        for place in 0..longest {
            let parts: Vec<Option<&TextPart<'_>>> =
                texts.iter().map(|parts| parts.get(place)).collect();
            let headings: BTreeSet<Option<&str>> =
                parts.iter().map(|part| part.map(heading)).collect();
            if headings.len() == 1 {
                continue;
            }
            let parts = parts.into_iter().flatten();
            let single = parts.clone().filter(|part| part.process.is_some());
            let single: BTreeSet<Who> = single.map(|part| self.who(part)).collect();
            if !single.is_empty() {
                return Ok(Difference::Of(single));
            }
            let first = parts.map(|part| part.program).min().unwrap_or_default();
            return Err(Unsettled::Programs(first.to_owned()));
        }
        Ok(Difference::Of(BTreeSet::new()))
    }

    fn who(&self, part: &TextPart<'_>) -> Who {
        Who {
            process: part.process.filter(|_| self.by == By::Process),
            program: part.program.to_owned(),
        }
    }

    /// From here on the processes of a program are one, where their order is not shown.
    fn take_together(&mut self) {
        self.by = By::Program;
        self.treated.clear();
        self.findings.clear();
    }

    /// Shows somebody with as little less as makes his runs the same.
    fn loosen(&mut self, who: Who, rows: &[Row<'_>]) {
        let now = self.treated.get(&who).cloned().unwrap_or_default();
        let runs: Vec<Vec<Vec<&Block>>> = rows
            .iter()
            .map(|row| row.iter().map(|(_, run)| blocks_of(&who, run)).collect())
            .collect();
        if now.level == Level::Sequence {
            let deeds = runs.iter().flatten().map(|blocks| self.deeds(blocks));
            let found = temporary::find(&deeds.collect::<Vec<_>>());
            let is_new = |(glob, _): &(String, String)| {
                !self.temporary.iter().any(|(known, _)| known == glob)
            };
            let new: Vec<_> = found.into_iter().filter(is_new).collect();
            if !new.is_empty() {
                self.temporary.extend(new);
                return;
            }
            let finding = self.finding(&who, rows, &runs);
            self.findings.entry(who.clone()).or_insert(finding);
        }
        let waiting = runs
            .iter()
            .flatten()
            .flat_map(|blocks| tally(blocks).into_keys());
        let waiting: BTreeSet<String> = waiting
            .filter(|name| WAITING.contains(name))
            .map(str::to_owned)
            .collect();
        let is_first = now.level == Level::Sequence && now.hidden.is_empty();
        let is_waiting = !waiting.is_empty() && self.is_same_without(&waiting, &runs);
        let treated = if is_first && is_waiting {
            Treated {
                level: Level::Sequence,
                hidden: self.fewest(waiting, &runs),
            }
        } else {
            self.by_numbers(&waiting, &runs)
        };
        self.treated.insert(who, treated);
    }

    /// Whether the order is the same without these.
    fn is_same_without(&self, hidden: &BTreeSet<String>, runs: &[Vec<Vec<&Block>>]) -> bool {
        let lines = |blocks: &Vec<&Block>| {
            let of_thread = |block: &&Block| {
                let deeds = block
                    .deeds
                    .iter()
                    .filter(|deed| self.base.shows(&deed.name) && !hidden.contains(&*deed.name));
                (block.task.thread, deeds.map(Deed::line).collect::<Vec<_>>())
            };
            let threads = blocks.iter().map(of_thread);
            let threads = threads.filter(|(thread, lines)| *thread == 1 || !lines.is_empty());
            threads.collect::<Vec<_>>()
        };
        all_same(runs, lines)
    }

    /// As few of these as it takes for the order to be the same without them.
    fn fewest(&self, mut hidden: BTreeSet<String>, runs: &[Vec<Vec<&Block>>]) -> BTreeSet<String> {
        for name in hidden.clone() {
            hidden.remove(&name);
            if !self.is_same_without(&hidden, runs) {
                hidden.insert(name);
            }
        }
        hidden
    }

    /// The strictest of the levels that count.
    fn by_numbers(&self, waiting: &BTreeSet<String>, runs: &[Vec<Vec<&Block>>]) -> Treated {
        let counts = |hidden: &BTreeSet<String>| {
            all_same(runs, |blocks| {
                let mut tally = tally(blocks);
                tally.retain(|name, _| self.base.shows(name) && !hidden.contains(*name));
                tally
                    .into_iter()
                    .map(|(name, n)| (name.to_owned(), n))
                    .collect::<Vec<_>>()
            })
        };
        let none = BTreeSet::new();
        for hidden in [&none, waiting] {
            if counts(hidden) {
                return Treated {
                    level: Level::Counts,
                    hidden: hidden.clone(),
                };
            }
        }
        let mut hidden = BTreeSet::new();
        for row in runs {
            let names = row
                .iter()
                .map(|blocks| tally(blocks).into_keys().collect::<BTreeSet<_>>());
            let names: Vec<BTreeSet<&str>> = names.collect();
            for name in names.iter().flatten() {
                if !names.iter().all(|names| names.contains(name)) {
                    hidden.insert((*name).to_owned());
                }
            }
        }
        hidden.retain(|name| self.base.shows(name));
        Treated {
            level: Level::Set,
            hidden,
        }
    }

    fn deeds<'b>(&self, blocks: &[&'b Block]) -> Vec<&'b Deed> {
        let deeds = blocks.iter().flat_map(|block| &block.deeds);
        deeds.filter(|deed| self.base.shows(&deed.name)).collect()
    }

    fn finding(&self, who: &Who, rows: &[Row<'_>], runs: &[Vec<Vec<&Block>>]) -> Finding {
        let setting = Setting {
            has_threads: runs
                .iter()
                .flatten()
                .flatten()
                .any(|block| block.task.thread > 1),
            has_company: rows
                .iter()
                .flatten()
                .any(|(_, run)| run.processes().count() > 1),
        };
        let mut finding = Finding {
            who: who.clone(),
            level: Level::Sequence,
            hidden: Vec::new(),
            varying: Vec::new(),
            unlike: BTreeMap::new(),
        };
        for (row, runs) in rows.iter().zip(runs) {
            let mut forms: BTreeMap<String, Vec<&Form>> = BTreeMap::new();
            for (form, run) in row {
                let parts = run
                    .parts()
                    .into_iter()
                    .filter(|part| self.who(part) == *who);
                let text = parts.map(|part| part.text).collect();
                forms.entry(text).or_default().push(form);
            }
            let n_runs = |forms: &Vec<&Form>| forms.iter().map(|form| form.n_runs()).sum::<u32>();
            let most = forms.values().map(n_runs).max().unwrap_or_default();
            let common = forms.values().find(|forms| n_runs(forms) == most);
            let is_common = |form: &Form| {
                common.is_some_and(|forms| forms.iter().any(|known| std::ptr::eq(*known, form)))
            };
            for (form, _) in row {
                for (condition, count) in &form.seen {
                    let (unlike, all) = finding.unlike.entry(*condition).or_default();
                    *all += count;
                    *unlike += if is_common(form) { 0 } else { *count };
                }
            }
            for new in varying(runs, &setting) {
                let is_known = finding.varying.iter().any(|known| known.name == new.name);
                if self.base.shows(&new.name) && !is_known {
                    finding.varying.push(new);
                }
            }
        }
        finding
    }

    fn finish(mut self, rows: &[Row<'_>]) -> Calibration {
        for (who, finding) in &mut self.findings {
            let treated = self.treated.get(who).cloned().unwrap_or_default();
            finding.level = treated.level;
            finding.hidden = treated.hidden.into_iter().collect();
        }
        let mut view = self.view();
        let mut hidden = Vec::new();
        let everybody = self.everybody(rows);
        match common(everybody.values()) {
            // One rule for all of them.
            Some(treated) => {
                view.levels.clear();
                view.level = treated.level;
                view.hidden.extend(treated.hidden.iter().cloned());
                hidden.extend(treated.hidden);
            }
            None => view.levels = by_program(&everybody),
        }
        let texts = self.evidence.rows().zip(self.rows(&view));
        let text = |((row, _), forms): ((&str, _), Row<'_>)| {
            let text = forms.first().map(|(_, run)| run.text());
            (row.to_owned(), text.unwrap_or_default())
        };
        Calibration {
            texts: texts.map(text).collect(),
            view,
            hidden,
            findings: self.findings.into_values().collect(),
            temporary: self.temporary,
            processes_vary: self.by == By::Program,
            n_runs: self.evidence.n_runs(),
        }
    }

    /// All who do anything that is shown, and how they are.
    fn everybody(&self, rows: &[Row<'_>]) -> BTreeMap<Who, Treated> {
        let mut everybody = BTreeMap::new();
        let runs = rows.iter().filter_map(|row| row.first());
        for process in runs.flat_map(|(_, run)| run.processes()) {
            let Some(leader) = process.first() else {
                continue;
            };
            let who = Who {
                process: Some(leader.task.process).filter(|_| self.by == By::Process),
                program: leader.program.clone(),
            };
            let mut names = process.iter().flat_map(|block| block.tally.keys());
            if names.any(|name| self.base.shows(name)) {
                let treated = self.treated.get(&who).cloned().unwrap_or_default();
                everybody.insert(who, treated);
            }
        }
        everybody
    }
}

fn heading<'b>(part: &'b TextPart<'_>) -> &'b str {
    part.text.lines().next().unwrap_or_default()
}
