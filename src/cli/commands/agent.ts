/** `carillon agent`: runs a program that answers calls with a model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Command } from 'commander';
import type { RunningAgent } from '../../agent/agent.ts';
import { DEMO_FILE } from '../../service/data-folder.ts';
import { type AccountOptions, accountClient, folderOf, withAccountOptions } from '../connection.ts';
import { untilStopped } from '../stop-signal.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

interface Flags extends GlobalOptions, AccountOptions {
  readonly config?: string;
  readonly instructions?: string;
  readonly check?: boolean;
  readonly register: boolean;
  readonly endpoint?: string;
}

export function addAgentCommand(program: Command, sessionOf: (command: Command) => Session): void {
  withAccountOptions(
    program
      .command('agent')
      .description('Answer calls with a model: OpenAI Realtime, Gemini Live or a pipeline')
      .option(
        '--config <file>',
        'agent file (YAML or JSON); default: an assistant of the vendor whose key is in the environment',
      )
      .option('--instructions <text>', 'system prompt, without --config')
      .option('--check', 'check the file and exit')
      .option('--no-register', 'do not create an application; use the printed answer URL')
      .option(
        '--endpoint <username>',
        'endpoint whose calls the agent answers; default: the first',
      ),
  ).action(async (_: object, command: Command) => {
    await runAgent(sessionOf(command), command.optsWithGlobals<Flags>());
  });
}

async function runAgent(session: Session, flags: Flags): Promise<void> {
  // Loaded on demand: the other commands do not need the agent.
  const { firstAgent, readAgentFile } = await import('../../agent/agent-file.ts');
  const { loadSounds } = await import('../../agent/sounds.ts');
  const { startAgent } = await import('../../agent/agent.ts');
  const { openNetwork } = await import('../../agent/network.ts');
  const { openEgressGuard } = await import('../../edge/egress/egress.ts');
  const { systemClock } = await import('../../edge/clock/system-clock.ts');
  const { terminal } = session;
  const { config } = flags;
  const agent =
    config === undefined
      ? firstAgent(terminal.env, flags.instructions)
      : readAgentFile(config, terminal.env);
  const sounds = config === undefined ? new Map() : loadSounds(config, agent);
  if (flags.check) {
    session.done(`${config ?? 'the environment'} is valid`);
    return;
  }
  const print = (line: string): void => terminal.print(line);
  // The operator chooses the servers, which may be on this machine.
  const network = openNetwork(openEgressGuard());
  const running = await startAgent({ agent, sounds, clock: systemClock, network, print });
  print(`agent ${agent.name}: answer URL ${withoutPassword(running.answerUrl)}`);
  // A bug in one call must not end the other calls, or leave the endpoint at this agent.
  const onRejection = (reason: unknown): void =>
    terminal.note(`unhandled promise rejection: ${inspect(reason)}\n`);
  process.on('unhandledRejection', onRejection);
  // Before the registration: a signal during it must not leave the endpoint at this agent.
  const stopped = untilStopped();
  try {
    const undo = flags.register
      ? await announce(session, flags, { running, ...agent })
      : async () => undefined;
    await stopped;
    await undo();
  } finally {
    process.off('unhandledRejection', onRejection);
    await running.stop();
    await network.close();
  }
}

function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

interface Announced {
  readonly running: RunningAgent;
  readonly name: string;
  readonly numbers: readonly string[];
}

/** Registers the agent with the service and prints how to call it. Returns a function that undoes it. */
async function announce(
  { terminal }: Session,
  flags: Flags,
  { running, name, numbers }: Announced,
): Promise<() => Promise<void>> {
  const { register } = await import('../agent/registration.ts');
  const first = firstEndpoint(folderOf(flags, terminal.env));
  const endpoint = flags.endpoint ?? (numbers.length === 0 ? first?.username : undefined);
  const { appId, undo } = await register(accountClient(flags, terminal.env), {
    name,
    answerUrl: running.answerUrl,
    hangupUrl: running.hangupUrl,
    endpoint,
    numbers,
  });
  terminal.print(`application agent-${name} (${appId})`);
  for (const number of numbers) terminal.print(`call ${number}`);
  if (endpoint !== undefined && endpoint === first?.username)
    terminal.print(`call ${first.dial} from ${endpoint}, for example: npm run call`);
  return undo;
}

/** Endpoint and number of the first start. */
function firstEndpoint(
  dataDir: string,
): { readonly username: string; readonly dial: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, DEMO_FILE), 'utf8'));
  } catch {
    return undefined;
  }
}
