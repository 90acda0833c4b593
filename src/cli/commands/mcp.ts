/** `carillon mcp`: a Model Context Protocol server for calls, records, documents, bots, balance and campaigns. */
import { type Command, InvalidArgumentError } from 'commander';
import { token as newToken } from '../../base/ids.ts';
import { systemRandom } from '../../base/system-random.ts';
import { type AccountOptions, accountClient, withAccountOptions } from '../connection.ts';
import { untilStopped } from '../stop-signal.ts';
import type { GlobalOptions, Session } from '../terminal.ts';

interface Flags extends GlobalOptions, AccountOptions {
  readonly http?: { readonly host: string; readonly port: number };
  readonly allowWrite?: boolean;
}

export function addMcpCommand(program: Command, sessionOf: (command: Command) => Session): void {
  withAccountOptions(
    program
      .command('mcp')
      .description('Serve the Model Context Protocol on standard input and output, or over HTTP')
      .option('--http <host:port>', 'serve HTTP instead; clients send CARILLON_MCP_TOKEN', address)
      .option('--allow-write', 'also offer tools that hang up calls and pause or resume campaigns'),
  ).action(async (_: object, command: Command) => {
    await serve(sessionOf(command), command.optsWithGlobals<Flags>());
  });
}

async function serve(session: Session, flags: Flags): Promise<void> {
  const { mcpTools } = await import('../mcp/tools.ts');
  const { serveHttp, serveStdio } = await import('../mcp/server.ts');
  const { env } = session.terminal;
  const needs = { operator: () => session.client, account: () => accountClient(flags, env) };
  const tools = mcpTools(needs, flags.allowWrite === true);
  if (flags.http === undefined) return serveStdio(tools);
  const given = env['CARILLON_MCP_TOKEN'];
  const token = given || newToken(systemRandom);
  const server = await serveHttp(tools, { ...flags.http, token });
  session.terminal.print(`MCP server at ${server.url}`);
  // A generated token is shown once, because clients need it.
  if (!given) session.terminal.print(`Authorization: Bearer ${token}`);
  await untilStopped();
  await server.stop();
}

function address(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) throw new InvalidArgumentError('must be host:port');
  return { host, port };
}
