// The commands of the palette that match what a person typed. Pages and actions are matched here; names of deployments by
// the server.

import { isNodeId } from '@holdfast/contract'
import { texts } from '../texts/en.ts'
import { SCHEME_CHOICES, type SchemeChoice } from '../theme/scheme.ts'

type Target =
  | { readonly kind: 'page'; readonly to: string }
  | { readonly kind: 'deployment'; readonly name: string; readonly tab: DeploymentTab }
  | { readonly kind: 'node'; readonly id: string }
  | { readonly kind: 'scheme'; readonly choice: SchemeChoice }
  | { readonly kind: 'sign-out' }
  /** Opens the search of the reference, for a code or any other word. */
  | { readonly kind: 'reference'; readonly word: string }

/** The pages of a deployment that can be asked for by word, such as: logs shop. */
const TABS = ['why', 'replicas', 'logs', 'terminal', 'history', 'events'] as const
type DeploymentTab = (typeof TABS)[number]

export interface Command {
  readonly id: string
  readonly group: string
  readonly label: string
  /** Words after the label, such as the phase of a deployment. */
  readonly hint?: string
  readonly target: Target
}

export interface KnownPage {
  readonly to: string
  readonly label: string
}

interface KnownDeployment {
  readonly name: string
  readonly phase: string
}

interface KnownNode {
  readonly id: string
  readonly name: string
  readonly status: string
}

/** The records that match the text. */
export interface Found {
  readonly deployments: readonly KnownDeployment[]
  readonly nodes: readonly KnownNode[]
}

export interface Typed {
  /** The part of a name for which the server is asked. */
  readonly name: string
  /** The page of a deployment that the text begins with; undefined for names alone. */
  readonly tab: DeploymentTab | undefined
}

export function readTyped(text: string): Typed {
  const words = text.trim().toLowerCase().split(/\s+/)
  const tab = words.length <= 2 ? TABS.find((each) => each === words[0]) : undefined
  return { tab, name: (tab === undefined ? words[0] : words[1]) ?? '' }
}

export function findCommands(
  text: string,
  pages: readonly KnownPage[],
  { deployments, nodes }: Found,
): Command[] {
  const { tab, name } = readTyped(text)
  const wanted = text.trim().toLowerCase()
  const matches = ({ label }: { readonly label: string }): boolean => label.toLowerCase().includes(wanted)
  const isMeant = (each: { readonly name: string }): boolean => each.name.toLowerCase().includes(name)
  const names = deployments.filter(isMeant).map((each) => deploymentCommand(each, tab))
  // A word such as events is a page of the tenant as well.
  if (tab !== undefined) return [...pages.map(pageCommand).filter(matches), ...names]
  const machines = [...nodes.filter(isMeant), ...pastedNode(text.trim())].map(nodeCommand)
  const reference = wanted === '' ? [] : [referenceCommand(text.trim())]
  return [
    ...pages.map(pageCommand).filter(matches),
    ...names,
    ...machines,
    ...ACTIONS.filter(matches),
    ...reference,
  ]
}

const pageCommand = ({ to, label }: KnownPage): Command => ({
  id: `page-${to}`,
  group: texts.palette.pages,
  label,
  target: { kind: 'page', to },
})

const deploymentCommand = ({ name, phase }: KnownDeployment, tab: DeploymentTab | undefined): Command => ({
  id: `deployment-${name}`,
  group: texts.palette.deployments,
  label: tab === undefined ? name : texts.palette.tab(texts.pages[tab], name),
  hint: phase,
  target: { kind: 'deployment', name, tab: tab ?? 'why' },
})

/** The node whose id was pasted; the server finds nodes by name only. */
const pastedNode = (text: string): KnownNode[] =>
  isNodeId(text) ? [{ id: text, name: texts.palette.open(text), status: '' }] : []

const nodeCommand = ({ id, name, status }: KnownNode): Command => ({
  id: `node-${id}`,
  group: texts.palette.nodes,
  label: name,
  ...(status === '' ? {} : { hint: status }),
  target: { kind: 'node', id },
})

const referenceCommand = (word: string): Command => ({
  id: 'reference',
  group: texts.palette.actions,
  label: texts.palette.reference(word),
  target: { kind: 'reference', word },
})

const ACTIONS: readonly Command[] = [
  ...SCHEME_CHOICES.map(
    (choice): Command => ({
      id: `scheme-${choice}`,
      group: texts.palette.actions,
      label: texts.palette.scheme(texts.shell.schemes[choice]),
      target: { kind: 'scheme', choice },
    }),
  ),
  { id: 'sign-out', group: texts.palette.actions, label: texts.shell.signOut, target: { kind: 'sign-out' } },
]
