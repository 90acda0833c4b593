/** `carillon doctor`: checks whether this machine can run the service and suggests a fix for each fault. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { NewCarrier } from '../../domain/provisioning/provisioning.ts';
import type { PartState } from '../../edge/rest/server.ts';
import { type FoundService, findService } from '../connection.ts';
import { abortedWithin, type Finding, good, problem, reasonOf } from '../doctor/finding.ts';
import type { Json } from '../output.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

interface Flags {
  readonly file?: string;
  readonly answerUrl?: string;
}

export function addDoctorCommand(program: Command, sessionOf: (command: Command) => Session): void {
  program
    .command('doctor')
    .description(
      'Check settings, machine and network, and suggest fixes; exit status 1 if there is a problem',
    )
    .option('--file <file>', 'settings file; default: CARILLON_CONFIG')
    .option('--answer-url <url>', 'answer URL to request as a call would')
    .action(async (flags: Flags, command: Command) => {
      const session = sessionOf(command);
      const global = command.optsWithGlobals<GlobalOptions>();
      const findings = await session.working('looking', examine(session, flags, global));
      const problems = findings.filter(({ verdict }) => verdict === 'problem').length;
      session.report({ ok: problems === 0, findings }, linesOf(findings));
      if (problems > 0) session.terminal.fail();
    });
}

const SIGNS = { ok: 'ok  ', warning: 'WARN', problem: 'FAIL', skipped: '-   ' } as const;

function linesOf(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.flatMap(({ check, verdict, found, advice }) => [
    `${SIGNS[verdict]} ${check.padEnd(width)}  ${found}`,
    ...(advice === undefined ? [] : [`     ${' '.repeat(width)}  -> ${advice}`]),
  ]);
}

async function examine(
  session: Session,
  flags: Flags,
  global: GlobalOptions,
): Promise<readonly Finding[]> {
  const { env } = session.terminal;
  const { examineHere } = await import('../examine.ts');
  const clusters = await import('../doctor/cluster.ts');
  const machine = await import('../doctor/machine.ts');
  const network = await import('../doctor/network.ts');
  const objects = await import('../doctor/objects.ts');
  const optional = await import('../doctor/optional.ts');
  const publicAddress = await import('../doctor/public-address.ts');
  const services = await import('../doctor/services.ts');
  const { settings, problems, lists } = examineHere(env, flags.file);
  const running = await readiness(findService(global, env));
  const insecure = settings.streams.allowInsecure !== 'no';
  return [
    ...problems.map((line) =>
      problem('settings', line, 'Correct it, then run carillon config check.'),
    ),
    ...(problems.length === 0 ? [good('settings', 'valid')] : []),
    machine.checkNode(process.versions.node),
    machine.checkEngine(),
    ...(running ?? (await network.checkPorts(settings))),
    ...(await publicAddress.checkPublicAddress(settings)),
    ...services.checkCertificates(settings, Date.now()),
    await services.checkStore(settings),
    await services.checkAudioCleaning(),
    ...optional.checkOptional(settings, optional.installedHere(env)),
    await clusters.checkRedis(settings),
    ...clusters.checkParts(await reportedParts(session, running), settings),
    machine.checkClock(machine.thisMachine),
    ...machine.checkLimits(settings, machine.thisMachine),
    machine.checkDisk(resolve(global.dataDir ?? settings.dataDir)),
    await network.checkDns(),
    await services.checkMail(settings),
    await objects.checkObjects(settings),
    ...(await network.checkCarriers(await knownCarriers(session, running, lists.carriers))),
    await services.checkAnswerUrl(flags.answerUrl, insecure),
  ];
}

type Readiness = Json & { readonly details?: Readonly<Record<string, string>> };

/** Checks readiness over HTTP. Returns undefined if no process listens at `url`; the ports can then be probed. */
async function readiness(found: FoundService): Promise<readonly Finding[] | undefined> {
  const { url } = found;
  try {
    const { isReady, body } = await abortedWithin(async (signal) => {
      const reply = await found.fetch(`${url}/readyz`, { signal });
      return { isReady: reply.ok, body: (await reply.json()) as Readiness };
    });
    if (isReady) return [good('service', `runs at ${url} and accepts calls`)];
    const missing = Object.entries(body.details ?? {}).map(([part, why]) => `${part}: ${why}`);
    return [
      problem(
        'service',
        `runs at ${url} but accepts no calls: ${missing.join('; ')}`,
        'See the log for the cause: journalctl -u carillon.',
      ),
    ];
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: string } };
    if (cause?.code === 'ECONNREFUSED') return undefined;
    return [
      problem(
        'service',
        `${url}: ${reasonOf(cause ?? error)}`,
        'Another program listens at this address, or the service hangs. Run carillon status.',
      ),
    ];
  }
}

/** Returns the carriers of the running service if its admin token is available, otherwise those of the settings. */
async function knownCarriers(
  session: Session,
  running: readonly Finding[] | undefined,
  listed: readonly NewCarrier[],
): Promise<readonly NewCarrier[]> {
  if (running === undefined) return listed;
  try {
    const { carriers } = await abortedWithin((signal) =>
      session.client.get('/admin/v1/carriers', { signal }),
    );
    return (carriers as readonly NewCarrier[]) ?? listed;
  } catch {
    return listed;
  }
}

/** Returns what the running service reports about its parts; nothing without a service or its admin token. */
async function reportedParts(
  session: Session,
  running: readonly Finding[] | undefined,
): Promise<readonly PartState[]> {
  if (running === undefined) return [];
  try {
    const { parts } = await abortedWithin((signal) =>
      session.client.get('/admin/v1/status', { signal }),
    );
    return (parts as readonly PartState[]) ?? [];
  } catch {
    return [];
  }
}
