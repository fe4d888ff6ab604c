//! Writes the results of a run as one page.

use super::matrix::MatrixReport;
use super::suite::scenario_json;
use crate::matrix::{Column, Matrix};
use crate::run::ScenarioReport;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::SystemTime;

/// Appends one page of HTML, which needs no other file: that of `harness matrix` for one kernel.
pub fn html(out: &mut String, reports: &[ScenarioReport], made: SystemTime) {
    let kernels: BTreeSet<&str> = reports.iter().map(|it| it.kernel.as_str()).collect();
    let kernels: Vec<&str> = kernels.into_iter().collect();
    let mut column = Column::of(&kernels.join(", "));
    column.took = reports.iter().map(|report| report.duration).sum();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for report in reports {
        let count = named.entry(&report.name).or_default();
        *count = count.saturating_add(1);
    }
    let mut names = Vec::new();
    let mut taken = HashSet::new();
    for report in reports {
        let is_one = named.get(report.name.as_str()) == Some(&1);
        // A row has one result.
        let name = match is_one {
            true => report.name.clone(),
            false => format!("{} ({})", report.name, report.file.display()),
        };
        let again = (2_usize..).map(|number| format!("{name}, result {number}"));
        let mut all = std::iter::once(name.clone()).chain(again);
        let name = all.find(|it| !taken.contains(it)).unwrap_or_default();
        taken.insert(name.clone());
        let of_row = ScenarioReport {
            name: name.clone(),
            // A line without a trace has no answer to compare.
            trace: Some(
                report
                    .whole
                    .as_ref()
                    .or(report.trace.as_ref())
                    .cloned()
                    .unwrap_or_default(),
            ),
            ..report.clone()
        };
        let mut line = String::new();
        scenario_json(&mut line, &of_row);
        column.line(&line);
        names.push(name);
    }
    column.release = kernels.join(", ");
    let matrix = Matrix::new(vec![column], names);
    let report = MatrixReport::of(&matrix).made(made);
    report.with_traces().html(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::suite::tests::report;
    use crate::verdict::Verdict;

    #[test]
    fn each_result_has_a_row_even_where_two_scenarios_have_one_name() {
        let pass = ScenarioReport {
            verdict: Verdict::Pass,
            findings: Vec::new(),
            file: "x/mv.yaml".into(),
            trace: Some("P1 mv\n  rename(\"<a>\") = 0\n".to_owned()),
            ..report()
        };
        let mut out = String::new();
        html(&mut out, &[pass, report()], SystemTime::UNIX_EPOCH);
        for part in [
            "<h1>2 scenarios on 6.18.44</h1>",
            "<span class=\"pass\">1 pass</span> <span class=\"fail\">1 fail</span>",
            "<th scope=\"row\">mv (x/mv.yaml)</th><td class=\"pass\">",
            "<th scope=\"row\">mv (scenarios/mv.yaml)</th><td class=\"fail\">",
            "The trace on 6.18.44: 2 lines</summary><pre>P1 mv\n  rename(&quot;&lt;a&gt;&quot;) = 0\n</pre>",
            "and more\n",
            "1970-01-01 00:00:00 UTC",
        ] {
            assert!(out.contains(part), "{part}\n{out}");
        }
    }

    #[test]
    fn each_result_has_a_row_even_where_all_are_of_one_file() {
        let pass = ScenarioReport {
            verdict: Verdict::Pass,
            findings: Vec::new(),
            ..report()
        };
        let mut out = String::new();
        html(
            &mut out,
            &[pass.clone(), pass, report()],
            SystemTime::UNIX_EPOCH,
        );
        for part in [
            "<h1>3 scenarios on 6.18.44</h1>",
            "<span class=\"pass\">2 pass</span> <span class=\"fail\">1 fail</span>",
            "<th scope=\"row\">mv (scenarios/mv.yaml)</th><td class=\"pass\">",
            "<th scope=\"row\">mv (scenarios/mv.yaml), result 2</th><td class=\"pass\">",
            "<th scope=\"row\">mv (scenarios/mv.yaml), result 3</th><td class=\"fail\">",
        ] {
            assert!(out.contains(part), "{part}\n{out}");
        }
    }
}
