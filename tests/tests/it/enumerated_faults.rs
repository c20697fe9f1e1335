//! Every operation that is served: each of its calls of the store fails in each way, for all of them.
//! Whoever sends the request again has one effect.

use std::collections::BTreeSet;

use accrue_tests::served::{Bench, Call, Case, Flaw, Report, Way, reads, writes};

/// Of so many faults one is tried, and of so many reads one is made after it, unless all are asked
/// for. No multiple of how many ways there are in which a call fails, so that all of them come about.
const STRIDE: usize = 5;
const READS_STRIDE: usize = 8;
/// How many that are found wrong are told at most.
const TOLD: usize = 20;

fn all(bench: &Bench) -> Vec<Case> {
    [writes(&bench.scene), reads(&bench.scene)].concat()
}

/// Tries every so-many-th fault of some cases, and tells which were found wrong, so many at most.
fn enumerate(
    bench: &Bench,
    cases: &[Case],
    [stride, reads_stride]: [usize; 2],
    most: usize,
) -> (Report, Vec<String>) {
    let (mut report, mut wrong, mut number) = (Report::default(), Vec::new(), 0);
    for case in cases {
        let told = |wrong| format!("{} {} {}: {wrong}", case.operation, case.path, case.body);
        let expected = match bench.smooth(case) {
            Ok(expected) => expected,
            Err(error) => {
                wrong.push(told(error));
                continue;
            }
        };
        report.calls += expected.calls.len();
        for fault in expected.faults() {
            number += 1;
            if number % stride != 0 {
                continue;
            }
            let turn = number / stride;
            let is_wanted = |read: usize| (read + turn).is_multiple_of(reads_stride);
            let tried = bench.fail(case, &expected, fault, is_wanted, &mut report);
            wrong.extend(tried.err().map(|error| told(format!("{fault:?}: {error}"))));
            if wrong.len() >= most {
                return (report, wrong);
            }
        }
    }
    (report, wrong)
}

#[test]
fn every_operation_that_is_served_has_a_case() {
    let bench = Bench::set();
    let served: BTreeSet<_> = bench.served().into_iter().collect();
    let have: BTreeSet<_> = all(&bench).iter().map(|case| case.operation.to_owned()).collect();
    assert_eq!(served, have);
}

#[test]
fn a_case_reads_and_one_with_an_effect_commits() {
    let bench = Bench::set();
    for case in all(&bench) {
        let run = bench.smooth(&case).unwrap_or_else(|wrong| panic!("{case:?}: {wrong}"));
        let reads = run.calls.contains(&Call::Read);
        let commits = run.calls.contains(&Call::Commit);
        // What rests on nothing is written without a look.
        assert!(reads || commits || case.operation == "GET /ping", "{case:?} reads nothing");
        assert!(commits || !case.has_effect(), "{case:?} commits nothing");
    }
}

#[test]
fn a_retry_after_any_one_fault_of_any_operation_has_one_effect() {
    let is_all = std::env::var_os("ACCRUE_FAULTS").is_some_and(|which| which == "all");
    let strides = if is_all { [1, 1] } else { [STRIDE, READS_STRIDE] };
    let bench = Bench::set();
    let cases = all(&bench);
    let (report, wrong) = enumerate(&bench, &cases, strides, TOLD);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for way in Way::ALL {
        assert!(report.faults.contains_key(way), "no call fails so: {way:?}");
    }
    assert!(report.replays > 0, "nothing is replayed");
    let operations: BTreeSet<_> = cases.iter().map(|case| case.operation).collect();
    let (operations, requests) = (operations.len(), cases.len());
    println!("{requests} requests for {operations} operations: {report:#?}");
}

#[test]
fn a_store_that_is_wrong_is_found_out() {
    for flaw in Flaw::ALL {
        let bench = Bench::set().flawed(*flaw);
        let mut cases = writes(&bench.scene);
        cases.retain(|case| case.operation.ends_with("/{customer_id}/credits/ledger_entry"));
        let (_, wrong) = enumerate(&bench, &cases[..1], [1, READS_STRIDE], usize::MAX);
        let expected = match flaw {
            Flaw::LosesRecords => "Lost }: another effect",
            Flaw::TearsCommits => "Dropped }: another effect",
            Flaw::ForgetsPreconditions => "TooLate }: another effect",
            Flaw::KeepsErrors => "Refused }: an answer of status 500 is kept",
        };
        let is_found = wrong.iter().any(|wrong| wrong.contains(expected));
        assert!(is_found, "{flaw:?} is not found out: {}", wrong.join("\n"));
    }
}
