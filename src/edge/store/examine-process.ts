/** Program that examines the database file of its argument. It prints a description of the damage, nothing if there is none. */
import { ServiceError } from '../../base/errors.ts';
import { examineFile } from './offline.ts';

function damageOf(file: string): string {
  try {
    const { damage, ledgerFaults } = examineFile(file);
    if (damage[0] !== undefined) return `the database file is damaged (${damage[0]})`;
    const [fault] = ledgerFaults;
    return fault === undefined ? '' : `the ledger of account ${fault.accountId} does not add up`;
  } catch (error) {
    // The readiness report shows the text to anyone, so it must not contain the path.
    if (error instanceof ServiceError && error.code === 'STORE_CORRUPT')
      return error.message.replace(file, 'the database file');
    throw error;
  }
}

process.stdout.write(damageOf(String(process.argv[2])));
