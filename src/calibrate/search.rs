//! Searches the strictest view in which all runs are the same.

use super::compare::{Runs, blocks_of};
use super::evidence::Form;
use super::reason::Setting;
use super::treated::{Treated, by_program, common};
use super::varying::varying;
use super::{Calibration, Evidence, Finding, Reason, Unsettled, Who, hazard, temporary};
use crate::matching::{SpanRule, add_spans};
use crate::trace::{Block, By, Deed, Level, Normalised, TextPart, View};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::Signatures;

/// Finds the strictest view in which the runs of each row are the same. It keeps from `view` what
/// is shown at all and the temporary names; levels are found anew. `spans` are the rules for spans.
///
/// # Errors
/// [`Unsettled`].
pub fn calibrate(
    evidence: &Evidence,
    view: &View,
    signatures: &Signatures<'_>,
    spans: &[SpanRule],
) -> Result<Calibration, Unsettled> {
    let mut search = Search {
        evidence,
        signatures,
        spans,
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
        expected: BTreeMap::new(),
    };
    loop {
        let rows = search.rows(&search.view());
        if rows.iter().all(Vec::is_empty) {
            return Err(Unsettled::NoRuns);
        }
        match search.difference(&rows)? {
            None if search.expect_more(&rows) => {}
            None => return Ok(search.finish(&rows)),
            Some(Difference::Processes) => search.take_together(),
            Some(Difference::Of(all)) => {
                for who in all {
                    let name = who.to_string();
                    if !search.loosen(who, &rows) {
                        return Err(Unsettled::Remains(name));
                    }
                }
            }
        }
    }
}

/// How runs differ.
enum Difference {
    /// In which processes there are, or which is whose child.
    Processes,
    /// In the calls of these processes.
    Of(BTreeSet<Who>),
}

/// The forms of a row in some view.
type Row<'a> = Vec<(&'a Form, Normalised)>;

struct Search<'a> {
    evidence: &'a Evidence,
    signatures: &'a Signatures<'a>,
    spans: &'a [SpanRule],
    base: View,
    by: By,
    temporary: Vec<(String, String)>,
    treated: BTreeMap<Who, Treated>,
    findings: BTreeMap<Who, Finding>,
    /// The calls that are shown at a lower level for what may happen.
    expected: BTreeMap<Who, BTreeMap<String, Reason>>,
}

impl<'a> Search<'a> {
    fn view(&self) -> View {
        let treated = self.treated.iter();
        let treatments = treated.map(|(who, treated)| treated.treatment(who));
        let found = self.temporary.iter().map(|(glob, _)| glob.clone());
        View {
            levels: treatments.collect(),
            by: self.by,
            temporary: self.base.temporary.iter().cloned().chain(found).collect(),
            ..self.base.clone()
        }
    }

    fn rows(&self, view: &View) -> Vec<Row<'a>> {
        let normalise = |form: &'a Form| {
            let view = View {
                stretch: form.stretch,
                ..view.clone()
            };
            let mut run = form.trace.normalise(&view, self.signatures);
            add_spans(self.spans, &mut run);
            // Only the stretch itself is compared.
            if let Some(stretch) = form.stretch {
                for block in &mut run.blocks {
                    block.deeds.retain(|deed| stretch.has(deed));
                    block.recount();
                }
            }
            (form, run)
        };
        let rows = self.evidence.rows();
        rows.map(|(_, forms)| forms.iter().map(normalise).collect())
            .collect()
    }

    /// Returns the first difference in the order of the text.
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

    /// Returns the processes, of those that are still shown one by one, at the first place where
    /// the runs' processes differ.
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

    /// From here on all processes of a program are one, and their order is not shown.
    fn take_together(&mut self) {
        self.by = By::Program;
        self.treated.clear();
        self.findings.clear();
        self.expected.clear();
    }

    /// Finds the strictest level at which all runs of a process are equal. Returns whether it is
    /// lower than before.
    fn loosen(&mut self, who: Who, rows: &[Row<'_>]) -> bool {
        let now = self.treated.get(&who).cloned().unwrap_or_default();
        let base = self.base.clone();
        let blocks = rows.iter().map(|row| {
            let runs = row.iter().map(|(_, run)| blocks_of(&who, run));
            runs.collect()
        });
        let runs = Runs::new(blocks.collect(), &base);
        if now == Treated::default() {
            let deeds = runs.all().map(|blocks| self.deeds(blocks));
            let found = temporary::find(&deeds.collect::<Vec<_>>());
            let is_new = |(glob, _): &(String, String)| {
                let mut found = self.temporary.iter().map(|(known, _)| known);
                !self.base.temporary.contains(glob) && !found.any(|known| known == glob)
            };
            let new: Vec<_> = found.into_iter().filter(is_new).collect();
            if !new.is_empty() {
                self.temporary.extend(new);
                return true;
            }
            let finding = self.finding(&who, rows, &runs.rows);
            self.findings.insert(who.clone(), finding);
        }
        let treated = runs.treated(&now);
        let is_less = treated != now;
        self.treated.insert(who, treated);
        is_less
    }

    /// Lowers the level of calls that were equal in these runs and may differ in others. Returns
    /// whether any level is lower than before.
    fn expect_more(&mut self, rows: &[Row<'_>]) -> bool {
        let before = self.treated.clone();
        for (_, run) in rows.iter().flatten() {
            for hazard in hazard::all(run) {
                let mut processes = run.processes();
                let is_his = |process: &&[Block]| {
                    let leader = process.first();
                    leader.is_some_and(|leader| leader.task.process == hazard.process)
                };
                let who = processes
                    .find(is_his)
                    .and_then(|process| self.who_of(process));
                if let Some(who) = who.filter(|_| self.base.shows(&hazard.name)) {
                    let treated = self.treated.entry(who.clone()).or_default();
                    if treated.loosen(&hazard.name, hazard.how) {
                        let expected = self.expected.entry(who).or_default();
                        expected.insert(hazard.name, hazard.reason);
                    }
                }
            }
        }
        self.treated != before || self.treat_alike(rows)
    }

    fn who_of(&self, process: &[Block]) -> Option<Who> {
        let leader = process.first()?;
        Some(Who {
            process: Some(leader.task.process).filter(|_| self.by == By::Process),
            program: leader.program.clone(),
        })
    }

    /// Lowers the levels of processes of a program that do the same, to what holds for all of them:
    /// what varies in one will vary in another. Returns whether any level is lower than before.
    fn treat_alike(&mut self, rows: &[Row<'_>]) -> bool {
        let mut names: BTreeMap<Who, BTreeSet<String>> = BTreeMap::new();
        let runs = rows.iter().flatten();
        for process in runs.flat_map(|(_, run)| run.processes()) {
            if let Some(who) = self.who_of(process) {
                let tallies = process.iter().flat_map(|block| block.tally.keys());
                names.entry(who).or_default().extend(tallies.cloned());
            }
        }
        let before = self.treated.clone();
        for (who, treated) in &before {
            let varying = |who: &Who| {
                let found = self.findings.get(who).into_iter();
                let found = found.flat_map(|finding| &finding.varying);
                found.map(|varying| varying.name.clone()).collect()
            };
            let own: BTreeSet<String> = varying(who);
            let his = names.get(who).cloned().unwrap_or_default();
            for (other, others) in names
                .iter()
                .filter(|(other, _)| other.program == who.program)
            {
                let varying = own.union(&varying(other)).cloned().collect();
                if his.difference(&varying).eq(others.difference(&varying)) {
                    let now = self.treated.entry(other.clone()).or_default();
                    *now = now.and(treated);
                }
            }
        }
        self.treated != before
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
        let mut finding = Finding::of(who);
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
        self.treated
            .retain(|_, treated| *treated != Treated::default());
        for (who, treated) in &self.treated {
            let finding = self.findings.entry(who.clone());
            let finding = finding.or_insert_with(|| Finding::of(who));
            finding.expected = self.expected.remove(who).unwrap_or_default();
            finding.level = treated.level;
            finding.others.clone_from(&treated.others);
        }
        let mut view = self.view();
        let everybody = self.everybody(rows);
        match common(everybody.values()).filter(|treated| treated.others.is_empty()) {
            // All of them have the same level.
            Some(treated) => {
                view.levels.clear();
                view.level = treated.level;
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
            findings: self.findings.into_values().collect(),
            temporary: self.temporary,
            processes_vary: self.by == By::Program,
            n_runs: self.evidence.n_runs(),
            unpinned: None,
        }
    }

    /// Returns all processes that are shown, each with its level.
    fn everybody(&self, rows: &[Row<'_>]) -> BTreeMap<Who, Treated> {
        let mut everybody = BTreeMap::new();
        let runs = rows.iter().filter_map(|row| row.first());
        for process in runs.flat_map(|(_, run)| run.processes()) {
            let Some(who) = self.who_of(process) else {
                continue;
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
