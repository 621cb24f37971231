// The texts of plans: what a change would do, and what became of it.

import { formatCount } from '../format.ts'

export const plan = {
  fields: 'Fields',
  noFields: 'No field changes.',
  newRecord: 'Everything in the manifest is new.',
  change: (from: string, to: string) => `${from} → ${to}`,
  absent: 'absent',
  steps: 'Steps',
  noSteps: 'No container is created, recreated or stopped.',
  stays: (ready: number) => {
    if (ready === 0) return 'none stays ready'
    return ready === 1 ? '1 stays ready' : `${ready} stay ready`
  },
  effects: 'Effects',
  noEffects: 'Nothing that runs changes.',
  starts: (count: number) => `${formatCount(count, 'container')} ${count === 1 ? 'starts' : 'start'}`,
  unplaced: (count: number) => `${formatCount(count, 'replica')} would have no node`,
  announced: 'What the server adds',
  defaults: (count: number) => `${formatCount(count, 'default')} for fields that were not sent`,
  warnings: 'Warnings',
  from: (revision: number, time: string) => `from revision ${revision}; checked ${time}`,
  fromNothing: (time: string) => `checked ${time}`,
  checking: 'The server computes the plan',
  none: 'Nothing to apply: the stored deployment is the same.',
  sending: 'The plan is checked once more, then the change is sent.',
  differs: 'The plan has changed while you read it. Nothing was applied.',
  differsNext: 'Read it again. The button applies what is shown now.',
  done: (what: string) => `Done: ${what}.`,
  conflict: (name: string) => `Someone else has changed ${name}. Nothing was applied.`,
  conflictBy: (revision: number, author: string) => `Revision ${revision} by ${author} changed:`,
  conflictUnknown: 'The other change could not be read.',
  conflictNext: 'Start again from the newest revision',
  planAgain: 'Plan again',
  progress: 'Rollout',
  running: (ready: number, desired: number) => `${ready} of ${desired} replicas are ready`,
  open: (name: string) => `Open ${name}`,
  deleted: (name: string) => `${name} is deleted.`,
  deleting: (name: string) => `${name} is being deleted; its containers stop first.`,
  back: 'Back',

  /** The beginning of the button that sends a change. */
  verbs: {
    apply: 'Apply',
    restart: 'Restart',
    scale: 'Scale',
    rollBack: 'Roll back',
    remove: 'Delete',
    canary: 'Start the canary',
    promote: 'Promote',
    abort: 'Abort',
  },
  acts: {
    recreate: (count: number) => `recreate ${formatCount(count, 'container')}`,
    start: (count: number) => `start ${formatCount(count, 'container')}`,
    stop: (count: number) => `stop ${formatCount(count, 'container')}`,
    move: (count: number) => `move ${formatCount(count, 'container')}`,
    nothing: 'no container changes',
  },
} as const

export const change = {
  restart: (name: string) => `Restart ${name}: what would happen`,
  scale: (name: string) => `Scale ${name}: what would happen`,
  rollback: (name: string, revision: number) =>
    `Roll ${name} back to revision ${revision}: what would happen`,
  delete: (name: string) => `Delete ${name}: what would happen`,
  promote: (name: string) => `Promote the canary of ${name}: what would happen`,
  abort: (name: string) => `Abort the canary of ${name}: what would happen`,
  replicas: 'Replicas',
  replicasHint: '0 stops the deployment and keeps its settings.',
  replicasWrong: 'Type a whole number from 0.',
  force: 'Do not wait for the end of the observation',
  preview: 'Preview',
  edit: 'Edit',
  scaleAct: 'Scale',
  restartAct: 'Restart',
} as const
