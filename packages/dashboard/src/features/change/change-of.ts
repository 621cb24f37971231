// The change that the address of a plan page asks for, with its words and its command.

import type { Change } from '../../api/plan/change.ts'
import { changes } from '../../api/plan/changes.ts'
import type { ChangeSearch } from '../../api/plan/read-change.ts'
import { type Equivalent, equivalents } from '../../texts/commands.ts'

import { texts } from '../../texts/en.ts'

export interface AskedChange {
  readonly title: string
  readonly verb: string
  readonly change: Change
  readonly same: Equivalent
}

/** The change; undefined if the address lacks the number that it needs. */
export function askedChange(name: string, search: ChangeSearch): AskedChange | undefined {
  const { verbs } = texts.plan
  const { act, replicas, revision, force = false } = search
  switch (act) {
    case 'restart':
      return {
        title: texts.change.restart(name),
        verb: verbs.restart,
        change: changes.restart(name),
        same: equivalents.restart(name),
      }
    case 'scale':
      return replicas === undefined
        ? undefined
        : {
            title: texts.change.scale(name),
            verb: verbs.scale,
            change: changes.scale(name, replicas),
            same: equivalents.scale(name, replicas),
          }
    case 'rollback':
      return revision === undefined
        ? undefined
        : {
            title: texts.change.rollback(name, revision),
            verb: verbs.rollBack,
            change: changes.rollBack(name, revision),
            same: equivalents.rollBack(name, revision),
          }
    case 'delete':
      return {
        title: texts.change.delete(name),
        verb: verbs.remove,
        change: changes.remove(name),
        same: equivalents.remove(name),
      }
    case 'promote':
      return {
        title: texts.change.promote(name),
        verb: verbs.promote,
        change: changes.promoteCanary(name, force),
        same: equivalents.promote(name, force),
      }
    case 'abort':
      return {
        title: texts.change.abort(name),
        verb: verbs.abort,
        change: changes.abortCanary(name),
        same: equivalents.abort(name),
      }
  }
}
