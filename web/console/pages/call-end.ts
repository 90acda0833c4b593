import type { Row } from '../api.ts';
import type { Tone } from '../ui/parts.tsx';

/** Tone of the end: errors of the service or the application are bad, unanswered calls are fair. */
export function endTone(row: Row): Tone {
  const code = Number(row['hangup_cause_code']);
  if (code === 4000 || code === 4010) return 'good';
  return code >= 5000 && code < 6000 ? 'bad' : code >= 7000 && code < 9000 ? 'bad' : 'fair';
}
