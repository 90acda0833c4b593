import { Command, CommanderError } from 'commander';
import { VERSION } from '../config/version.ts';
import { addAccountCommands } from './commands/accounts.ts';
import { addAgentCommand } from './commands/agent.ts';
import { addBookCommands } from './commands/books.ts';
import { addCampaignCommands } from './commands/campaigns.ts';
import { addCertificateCommands } from './commands/certs.ts';
import { addConfigCommands } from './commands/config.ts';
import { addDoNotCallCommands, operatorsList } from './commands/do-not-call.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addImportCommands } from './commands/import.ts';
import { addInstallCommand } from './commands/install.ts';
import { addInventoryCommands } from './commands/inventory.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addPrivacyCommands } from './commands/privacy.ts';
import { addRehearseCommand } from './commands/rehearse.ts';
import { addServiceCommands } from './commands/service.ts';
import { addStoreCommands } from './commands/store.ts';
import { addStoreCopy } from './commands/store-copy.ts';
import { addTableCommands } from './commands/tables.ts';
import { addUserCommands } from './commands/users.ts';
import { describeFields } from './fields.ts';
import { sentenceOf } from './refusal.ts';
import { addStreamCommands } from './stream-test.ts';
import { type GlobalOptions, Session, type Terminal } from './terminal.ts';

/** Creates the command-line interface, which uses the client package. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('carillon')
    .version(VERSION, '--version', 'print the version')
    .description("Operate a Carillon service through its operator's API")
    .option('--url <url>', 'URL of the service; default: CARILLON_URL or the data folder')
    .option('--token <token>', 'admin token; default: CARILLON_ADMIN_TOKEN or the data folder')
    .option(
      '--data-dir <folder>',
      'data folder of the service; default: CARILLON_DATA_DIR, the settings file or data',
    )
    .option('--json', 'print JSON instead of tables')
    .showHelpAfterError('(use --help to list commands and options)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text),
    });
  program.hook('preAction', () => takeDataFolder(program, terminal.env));
  const sessionOf = (command: Command): Session =>
    new Session(terminal, command.optsWithGlobals<GlobalOptions>());
  addAccountCommands(program, sessionOf);
  addUserCommands(program, sessionOf);
  addInventoryCommands(program, sessionOf);
  addServiceCommands(program, sessionOf);
  addStoreCommands(program, sessionOf);
  addStoreCopy(program, sessionOf);
  addTableCommands(program, sessionOf);
  addConfigCommands(program, sessionOf);
  addCertificateCommands(program, sessionOf);
  addBookCommands(program, sessionOf);
  addImportCommands(program, sessionOf);
  addDoctorCommand(program, sessionOf);
  addInstallCommand(program, sessionOf);
  addCampaignCommands(program, sessionOf);
  addDoNotCallCommands(program, 'any campaign', sessionOf, (command) =>
    operatorsList(sessionOf(command).client),
  );
  addStreamCommands(program);
  addAgentCommand(program, sessionOf);
  addRehearseCommand(program, sessionOf);
  addPrivacyCommands(program, sessionOf);
  addMcpCommand(program, sessionOf);
  inherit(program);
  return program;
}

/** Sets the data folder to that of the settings file, unless an option or the environment names one. */
async function takeDataFolder(program: Command, env: Terminal['env']): Promise<void> {
  const named = program.opts<GlobalOptions>().dataDir || env['CARILLON_DATA_DIR'];
  if (named || !(env['CARILLON_CONFIG'] || env['CARILLON_CONFIG_BODY'])) return;
  const { configuredFolder } = await import('./configured.ts');
  program.setOptionValue('dataDir', configuredFolder(env));
}

/** Applies the output and exit settings of the program to all subcommands. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
}

/** Runs one command line. On failure, prints one line to standard error and sets a failing exit status. */
export async function run(args: readonly string[], terminal: Terminal): Promise<void> {
  try {
    const program = createProgram(terminal);
    if (args.some((word) => word === '--help' || word === '-h')) await describeFields(program);
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // Commander has already printed its message; help and version are not failures.
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) terminal.fail();
      return;
    }
    terminal.note(`${sentenceOf(error)}\n`);
    terminal.fail();
  }
}
