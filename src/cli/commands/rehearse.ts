/** `carillon rehearse`: tests bots with scripted callers, without a service and without real numbers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { CallResult } from '../../rehearse/run.ts';
import type { Session } from '../terminal.ts';

interface Flags {
  readonly junit?: string;
  readonly html?: string;
  readonly check?: boolean;
}

export function addRehearseCommand(
  program: Command,
  sessionOf: (command: Command) => Session,
): void {
  program
    .command('rehearse')
    .description('Test bots with scripted callers; exit status 1 if an expectation fails')
    .argument('<files...>', 'rehearsal files (YAML or JSON)')
    .option('--junit <file>', 'write a JUnit report')
    .option('--html <folder>', 'write an HTML report with recordings')
    .option('--check', 'check the files and exit')
    .action(async (files: string[], flags: Flags, command: Command) => {
      await rehearse(sessionOf(command), files, flags);
    });
}

async function rehearse(session: Session, files: readonly string[], flags: Flags): Promise<void> {
  // Loaded on demand: the other commands do not need them.
  const { FileFaults } = await import('../../config/checked-file.ts');
  const { readRehearsal } = await import('../../rehearse/rehearsal-file.ts');
  const faults: string[] = [];
  const rehearsals = files.flatMap((file) => {
    try {
      return [readRehearsal(file, session.terminal.env)];
    } catch (error) {
      if (!(error instanceof FileFaults)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  // No call is made unless all files are valid.
  if (faults.length > 0) throw new FileFaults(faults);
  if (flags.check) {
    session.done(`${files.length} file(s) are valid`);
    return;
  }
  const { runRehearsals } = await import('../../rehearse/run.ts');
  const { systemClock: clock } = await import('../../edge/clock/system-clock.ts');
  const { systemRandom: random } = await import('../../base/system-random.ts');
  const { openEgressGuard } = await import('../../edge/egress/egress.ts');
  const { HtmlReport, junit } = await import('../../rehearse/reports.ts');
  const html = flags.html === undefined ? undefined : new HtmlReport(flags.html);
  const results = await runRehearsals(rehearsals, {
    clock,
    random,
    egress: openEgressGuard(),
    progress: (line) => session.terminal.note(`${line}\n`),
    judged: (result) => html?.add(result),
  });
  html?.finish();
  if (flags.junit !== undefined) {
    mkdirSync(dirname(flags.junit), { recursive: true });
    writeFileSync(flags.junit, junit(results));
  }
  session.report(summary(results), linesOf(results));
  if (results.some(({ failures }) => failures.length > 0)) session.terminal.fail();
}

const summary = (results: readonly CallResult[]) => ({
  calls: results.map(({ rehearsal, caller, failures, observed, transcript }) => ({
    file: rehearsal.file,
    name: rehearsal.title,
    caller,
    failures,
    duration_ms: Math.round(observed.durationMs),
    answer_ms: observed.answeredMs ?? null,
    latencies_ms: observed.latencies,
    interruptions_ms: observed.interruptions,
    transfers: observed.transfers,
    digits: observed.digits,
    transcript: transcript ?? null,
  })),
});

function linesOf(results: readonly CallResult[]): readonly string[] {
  const lines = results.flatMap(({ rehearsal, caller, failures }) => {
    const who = rehearsal.callers === 1 ? '' : ` (caller ${caller})`;
    const sign = failures.length === 0 ? 'ok  ' : 'FAIL';
    return [`${sign} ${rehearsal.title}${who}`, ...failures.map((text) => `     ${text}`)];
  });
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  return [...lines, `${results.length} calls, ${failed} failed`];
}
