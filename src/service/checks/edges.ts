import { ServiceError } from '../../base/errors.ts';
import type { Settings } from '../../config/schema.ts';
import { edgePlaces } from '../../edge/sip/edges.ts';

/** Whether each of `sip.outboundEdges` is among `sip.edges`, in one line that names it. */
export function edgeProblems({ sip }: Settings): readonly string[] {
  try {
    edgePlaces(sip.outboundEdges, sip.edges);
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return [error.message];
    throw error;
  }
}
