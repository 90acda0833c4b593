/** Lists of numbers that campaigns must not call. */
import { isoMicros } from '../../../base/time-format.ts';
import type { ListedNumber } from '../../../domain/campaign/types.ts';
import { hinted, type Static, sliceQuery, Type, timestamp } from '../http/schema.ts';
import { e164Field } from '../http/values.ts';
import { plus } from './campaign.ts';

const NUMBERS_MAX = 1000;
const SEARCH_MAX = 32;

export const DoNotCallBody = Type.Object({
  numbers: hinted(
    Type.Array(e164Field(), { minItems: 1, maxItems: NUMBERS_MAX }),
    `must hold 1 to ${NUMBERS_MAX} E.164 numbers of 7 to 15 digits`,
  ),
});
export const DoNotCallQuery = Type.Object({
  ...sliceQuery,
  search: Type.Optional(Type.String({ maxLength: SEARCH_MAX, description: 'part of the number' })),
});
const ListedSchema = Type.Object({ number: Type.String(), added_at: timestamp() });
export const DoNotCallList = Type.Object({
  objects: Type.Array(ListedSchema),
  total: Type.Integer(),
});
export const DoNotCallAdded = Type.Object({
  added: Type.Integer({ description: 'number of new entries' }),
});

export const showListed = ({ number, addedUs }: ListedNumber): Static<typeof ListedSchema> => ({
  number: plus(number) ?? '',
  added_at: isoMicros(addedUs),
});
