// The remedies of an explanation: which of them a button can carry out, which page helps with it, and how a person carries out
// the others.

import type { Change, Cure, Why } from '@holdfast/contract'
import { HOW_TO } from '../../texts/how-to.ts'

interface NodeName {
  readonly id: string
  readonly name: string
}

/** A page on which a person sees or does what a remedy needs. */
export type RemedyPage = { readonly kind: 'node'; readonly node: NodeName } | { readonly kind: 'quotas' }

export interface KnownRemedy {
  readonly text: string
  /** The node that one request uncordons, if that is all that the remedy needs. */
  readonly uncordon?: NodeName
  readonly how: readonly string[]
  /** Each page once. */
  readonly pages: readonly RemedyPage[]
}

/** The remedies in the order of the server, the cheapest first. */
export function remediesOf({ cure, candidates, groups = [] }: Why): KnownRemedy[] {
  return cure.map((text) => {
    const candidate = candidates.find((each) => each.cure?.text === text)
    if (candidate?.cure !== undefined)
      return remedyOf(candidate.cure, { id: candidate.nodeId, name: candidate.nodeName })
    const group = groups.find((each) => each.cure?.text === text)
    return group?.cure === undefined
      ? { text, how: [], pages: [] }
      : remedyOf(group.cure, undefined, group.nodes[0])
  })
}

function remedyOf({ text, changes }: Cure, node: NodeName | undefined, name = node?.name ?? ''): KnownRemedy {
  const [only] = changes
  const direct = changes.length === 1 && only?.kind === 'uncordon' && node !== undefined
  const how = changes.map((change) => howTo(change, name, changes.length === 1))
  return { text, how, pages: pagesOf(changes, node), ...(direct ? { uncordon: node } : {}) }
}

/** A group of nodes has no page, and the explanation of a group does not name the id of its first node. */
function pagesOf(changes: readonly Change[], node: NodeName | undefined): RemedyPage[] {
  const kinds = new Set(changes.map(({ kind }) => kind))
  return [
    ...(kinds.has('free') && node !== undefined ? [{ kind: 'node', node } as const] : []),
    ...(kinds.has('raise_quota') ? [{ kind: 'quotas' } as const] : []),
  ]
}

/** The words for one change; a change that is the whole remedy is already named by it. */
function howTo({ kind, text }: Change, node: string, isWhole: boolean): string {
  const words = Object.hasOwn(HOW_TO, kind) ? HOW_TO[kind](node) : text
  return isWhole ? words : `${text} ${words}`
}
