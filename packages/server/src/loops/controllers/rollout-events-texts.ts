// What the stories of a rollout have in common.

import type { NewEvent } from '../../operations/record-write.ts'

export type NodeName = (id: string) => string
export type Told = Omit<NewEvent, 'subject' | 'cause'>

export const replicasText = (count: number): string => (count === 1 ? '1 replica' : `${count} replicas`)
