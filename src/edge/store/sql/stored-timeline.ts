import type { CallTimeline } from '../../../domain/cdr/types.ts';
import { aNumber, anything, aText, dictionaryOf, listOf, oneOf, struct } from '../shape.ts';
import { StoredList } from '../stored-kind.ts';

export const TIMELINE = new StoredList<CallTimeline['lines']>({
  name: 'timeline of a call',
  version: 1,
  shape: listOf(
    struct<CallTimeline['lines'][number]>({
      atUs: aNumber(),
      kind: oneOf('sip', 'xml', 'callback', 'media', 'stream', 'call', 'warning'),
      text: aText(),
      facts: dictionaryOf(anything()),
    }),
  ),
});
