import type { Command } from 'commander';
import { unchecked } from '../output.ts';
import { type PageFlags, withPages } from '../pages.ts';
import type { Session } from '../terminal.ts';

type SessionOf = (command: Command) => Session;

export function addUserCommands(program: Command, sessionOf: SessionOf): void {
  const users = program.command('user').description('Manage console users');
  users
    .command('add')
    .description('Invite a user and print a single-use link')
    .argument('<email>')
    .option(
      '--role <role>',
      'owner, operator (staff), developer (customer), viewer or billing',
      'owner',
    )
    .option('--account <auth_id>', 'limit the user to this account; default: operator staff')
    .action(async (email: string, flags: AddFlags, command: Command) => {
      const session = sessionOf(command);
      const made = await session.client.post('/admin/v1/users', {
        body: unchecked({ email, role: flags.role, account_id: flags.account }),
      });
      session.one(made, {
        link: made['link'],
        role: made['role'],
        account: made['account_id'] ?? "the operator's staff",
        until: made['expires_at'],
      });
    });
  users
    .command('list')
    .description('List users')
    .action(async (_: object, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/users'), 'users', [
        { title: 'ID', value: (row) => row['user_id'] },
        { title: 'E-MAIL', value: (row) => row['email'] },
        { title: 'ROLE', value: (row) => row['role'] },
        { title: 'ACCOUNT', value: (row) => row['account_id'] ?? '' },
        { title: 'CODE', value: (row) => (row['has_totp'] ? 'yes' : 'no') },
      ]);
    });
  users
    .command('remove')
    .description('Delete a user and end their sessions')
    .argument('<user_id>')
    .action(async (id: string, _: object, command: Command) => {
      const session = sessionOf(command);
      const done = await session.client.delete('/admin/v1/users/{user_id}', {
        path: { user_id: id },
      });
      session.done(`user ${id} removed`, done);
    });
  addAudit(program, sessionOf);
}

function addAudit(program: Command, sessionOf: SessionOf): void {
  withPages(program.command('audit'), 50)
    .description('List changes and who made them, newest first')
    .action(async (flags: PageFlags, command: Command) => {
      const session = sessionOf(command);
      session.list(await session.client.get('/admin/v1/audit', { query: flags }), 'entries', [
        { title: 'AT', value: (row) => row['at'] },
        { title: 'WHO', value: (row) => row['who'] },
        { title: 'WHAT', value: (row) => row['what'] },
        { title: 'PATH', value: (row) => row['path'] },
        { title: 'STATUS', value: (row) => row['status'], align: 'right' },
      ]);
    });
}

interface AddFlags {
  readonly role: string;
  readonly account?: string;
}
