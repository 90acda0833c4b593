import type { CallRecords } from '../../../domain/cdr/cdr.ts';
import type { CdrFilter, MosRange } from '../../../domain/cdr/types.ts';
import { showCdr } from './cdr.ts';
import { mapped, type RowSet } from './rows.ts';

const COLUMNS = [
  'uuid',
  'call_direction',
  'context',
  'caller_id_number',
  'caller_id_name',
  'destination_number',
  'start_time',
  'answer_time',
  'end_time',
  'duration',
  'billsec',
  'rounded_bill_duration',
  'ring_time',
  'cost',
  'streaming_cost',
  'total_cost',
  'currency',
  'hangup_cause',
  'hangup_cause_code',
  'hangup_cause_name',
  'hangup_source',
  'hangup_disposition',
  'codec',
  'mos',
  'jitter',
  'packet_loss',
  'packet_discard',
  'round_trip_time',
  'burst_density',
  'burst_duration',
  'gap_duration',
  'r_factor',
  'mos_sent',
  'jitter_sent',
  'packet_loss_sent',
  'one_way_audio',
  'bridge_uuid',
  'trunk_id',
] as const;

/** Yields all records, latest first, in bounded memory. */
export const cdrRows = (
  callRecords: CallRecords,
  filter: CdrFilter,
  mos: MosRange = { from: undefined, to: undefined },
): RowSet => ({
  name: 'cdr',
  columns: COLUMNS,
  rows: mapped(callRecords.walk(filter, mos), (record) => showCdr(record)),
});
