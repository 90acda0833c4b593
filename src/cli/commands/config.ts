/** Commands that show, check and reload settings. */
import type { Command } from 'commander';
import type { GlobalOptions, Session } from '../terminal.ts';

export function addConfigCommands(
  program: Command,
  sessionOf: (command: Command) => Session,
): void {
  const config = program.command('config').description('Show, check and reload settings');
  config
    .command('show')
    .description('Show the effective settings from file and environment, with secrets masked')
    .option('--file <file>', 'settings file; default: CARILLON_CONFIG')
    .action(async (flags: { file?: string }, command: Command) => {
      const { terminal } = sessionOf(command);
      const { examineHere, settingsAsJson, settingsAsYaml } = await import('../examine.ts');
      const examined = examineHere(terminal.env, flags.file);
      const { json } = command.optsWithGlobals<GlobalOptions>();
      terminal.print((json ? settingsAsJson(examined) : settingsAsYaml(examined)).trimEnd());
      report(terminal, examined.problems);
    });
  config
    .command('check')
    .description('Check whether the service would start with these settings; exit status 1 if not')
    .option('--file <file>', 'settings file; default: CARILLON_CONFIG')
    .action(async (flags: { file?: string }, command: Command) => {
      const session = sessionOf(command);
      const { checkHere } = await import('../examine.ts');
      const { problems, lists } = await checkHere(session.terminal.env, flags.file);
      if (problems.length > 0) return report(session.terminal, problems);
      const [rates, carriers] = [lists.rates.length, lists.carriers.length];
      session.done(`settings are valid; ${rates} rates, ${carriers} carriers`, { rates, carriers });
    });
  config
    .command('reload')
    .description('Reload rates, carriers, log level and certificates in the running service')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      const reply = await session.client.post('/admin/v1/reload');
      const words = (names: readonly string[]): string => names.join(', ') || '-';
      session.one(reply, {
        rates: reply.rates,
        carriers: reply.carriers,
        changed: words(reply.changed),
        'needs a restart': words(reply.needs_restart),
      });
    });
}

function report(terminal: Session['terminal'], problems: readonly string[]): void {
  for (const problem of problems) terminal.note(`settings: ${problem}\n`);
  if (problems.length > 0) terminal.fail();
}
