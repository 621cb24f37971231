import type { Event } from '@holdfast/contract'
import type { StoredNode } from '../store/records.ts'

/** A node as the subject of an event. */
export const nodeSubject = ({ id, name }: Pick<StoredNode, 'id' | 'name'>): Event['subject'] => ({
  kind: 'Node',
  name,
  uid: id,
})
