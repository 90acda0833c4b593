/** Stored JSON of writes that wait on the local disk for the database. */
import type { StoredNotification } from '../../../domain/callback/types.ts';
import type { OpenCall, Settlement } from '../../../domain/cdr/needs.ts';
import type { CallTimeline } from '../../../domain/cdr/types.ts';
import type { NodeRef } from '../../../domain/cluster/types.ts';
import type { NewEntry } from '../../../domain/ledger/types.ts';
import {
  aFlag,
  aNumber,
  anInteger,
  anything,
  aText,
  isObject,
  listOf,
  maybe,
  oneOf,
  type Shape,
  struct,
  tupleOf,
} from '../shape.ts';
import { StoredObject, unchanged } from '../stored-kind.ts';
import type { Unit } from '../unit.ts';
import {
  cdrShape,
  finishedCdr,
  OPEN_CALL,
  openCall,
  type StoredCdr,
  storedCall,
  storedCdr,
} from './stored-call.ts';
import {
  notificationShape,
  readSubject,
  type StoredSubject,
  writeSubject,
} from './stored-callback.ts';
import { TIMELINE } from './stored-timeline.ts';

type StoredSettlement = Omit<Settlement, 'cdr' | 'entries' | 'notification'> & {
  readonly entries: readonly StoredEntry[];
  readonly cdr: StoredCdr;
  readonly notification?: StoredSubject<StoredNotification> | undefined;
};

interface StoredEntry extends Omit<NewEntry, 'promotional' | 'key'> {
  readonly promotional: boolean | undefined;
  readonly key: string | undefined;
}

const entryShape = struct<StoredEntry>({
  accountId: aText(),
  currency: aText(),
  type: oneOf('debit', 'credit', 'did_rental'),
  amount: anInteger(),
  description: aText(),
  reference: maybe(aText()),
  referenceType: aText(),
  promotional: maybe(aFlag()),
  key: maybe(aText()),
});

/** How the arguments of an operation are stored. */
interface Form<Given extends readonly unknown[]> {
  readonly shape: Shape<readonly unknown[]>;
  write(given: Given): readonly unknown[];
  read(stored: readonly unknown[]): readonly unknown[];
}

const same = (shape: Shape<readonly unknown[]>): Form<readonly unknown[]> => ({
  shape,
  write: (given) => given,
  read: (stored) => stored,
});

const FORMS = {
  'calls.update': {
    // The stored call contains its version, which reading checks.
    shape: tupleOf(anything()),
    write: ([call]: readonly [OpenCall]) => [OPEN_CALL.put(storedCall(call))],
    read: ([call]) => [openCall(OPEN_CALL.take(call))],
  },
  'calls.settle': {
    shape: tupleOf(
      struct<StoredSettlement>({
        cdr: cdrShape,
        entries: listOf(entryShape),
        notification: maybe(notificationShape),
        isInterrupted: maybe(aFlag()),
      }),
    ),
    write: ([{ cdr, notification, ...rest }]: readonly [Settlement]) => [
      { ...rest, cdr: storedCdr(cdr), notification: notification && writeSubject(notification) },
    ],
    read: ([settlement]) => {
      const { cdr, notification, ...rest } = settlement as StoredSettlement;
      const read = notification && readSubject<StoredNotification>(notification);
      return [{ ...rest, cdr: finishedCdr(cdr), notification: read }];
    },
  },
  'calls.discard': {
    shape: tupleOf(struct({ cdr: struct({ callUuid: aText(), accountId: aText() }) })),
    write: ([{ cdr }]: readonly [Pick<OpenCall, 'cdr'>]) => [
      { cdr: { callUuid: cdr.callUuid, accountId: cdr.accountId } },
    ],
    read: (stored) => stored,
  },
  'callLogs.put': same(tupleOf<readonly [string, CallTimeline['lines']]>(aText(), TIMELINE.shape)),
  'notifications.put': {
    shape: tupleOf(notificationShape),
    write: ([notification]: readonly [StoredNotification]) => [writeSubject(notification)],
    read: ([stored]) => [
      readSubject<StoredNotification>(stored as StoredSubject<StoredNotification>),
    ],
  },
  'notifications.recordAttempt': same(tupleOf<readonly [string, number]>(aText(), anInteger())),
  'notifications.remove': same(tupleOf<readonly [string]>(aText())),
} satisfies Readonly<Record<string, Form<never>>>;

/** Operations whose arguments have a stored form. */
export type SpooledOperation = keyof typeof FORMS;

const formOf = ({ repository, operation }: Pick<Unit, 'repository' | 'operation'>) => {
  const form = (FORMS as Readonly<Record<string, Form<readonly unknown[]>>>)[
    `${repository}.${operation}`
  ];
  if (form === undefined) throw new Error(`${repository}.${operation} has no stored form`);
  return form;
};

/** A write with its arguments in their stored form. */
type StoredWrite = Omit<Unit, 'node'> & { readonly node?: NodeRef | undefined };

const common = struct<StoredWrite>({
  repository: aText(),
  operation: oneOf(...Object.keys(FORMS).map((name) => name.split('.')[1] ?? '')),
  given: listOf({ text: 'of the operation', problem: () => undefined }),
  nowUs: aNumber(),
  node: maybe(struct<NodeRef>({ id: aText(), epoch: aNumber() })),
});

const writeShape: Shape<StoredWrite> = {
  text: `${common.text} with ${Object.entries(FORMS)
    .map(([name, { shape }]) => `${name}: ${shape.text}`)
    .join(' | ')}`,
  problem: (value, at) => {
    const problem = common.problem(value, at);
    if (problem !== undefined || !isObject(value)) return problem;
    const write = value as unknown as StoredWrite;
    const form = (FORMS as Readonly<Record<string, Form<never>>>)[
      `${write.repository}.${write.operation}`
    ];
    if (form === undefined) return `${at} is not an operation that may wait`;
    return form.shape.problem(write.given, `${at}.given`);
  },
};

export const storedWrite = (unit: Unit): StoredWrite => ({
  ...unit,
  given: formOf(unit).write(unit.given),
});

export function writeUnit({ node, ...write }: StoredWrite): Unit {
  const unit = { ...write, given: formOf(write).read(write.given) };
  return node === undefined ? unit : { ...unit, node };
}

export const SPOOLED_WRITE = new StoredObject<StoredWrite>({
  name: 'write that waits for the database',
  version: 2,
  shape: writeShape,
  // Version 0 stored the arguments unchanged. Version 1 had no consent in call records.
  upgrades: [(older) => storedWrite(older as unknown as Unit), unchanged],
});
