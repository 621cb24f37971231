// The commands of the palette that match what a person typed. Pages and actions are matched here; names of deployments by
// the server.

import { isNodeId } from '@holdfast/contract'
import { texts } from '../texts/en.ts'
import { SCHEME_CHOICES, type SchemeChoice } from '../theme/scheme.ts'

type Target =
  | { readonly kind: 'page'; readonly to: string }
  | { readonly kind: 'deployment'; readonly name: string; readonly tab: DeploymentTab }
  /** Opens the plan of a change, which is sent only from there. */
  | { readonly kind: 'plan'; readonly name: string; readonly act: PlannedAct }
  | { readonly kind: 'node'; readonly id: string }
  | { readonly kind: 'scheme'; readonly choice: SchemeChoice }
  | { readonly kind: 'sign-out' }
  /** Opens the search of the reference, for a code or any other word. */
  | { readonly kind: 'reference'; readonly word: string }

/** The pages of a deployment that can be asked for by word, such as: logs shop. */
const TABS = {
  why: texts.pages.why,
  replicas: texts.pages.replicas,
  logs: texts.pages.logs,
  terminal: texts.pages.terminal,
  history: texts.pages.history,
  rotation: texts.secrets.rotationTab,
  events: texts.pages.events,
  scaling: texts.scaling.title,
  settings: texts.editor.title,
} as const
type DeploymentTab = keyof typeof TABS

/** The changes of a deployment that can be asked for by word, such as: restart shop. */
const ACTS = { scale: texts.change.scaleAct, restart: texts.change.restartAct } as const
type PlannedAct = keyof typeof ACTS
type View = DeploymentTab | PlannedAct

const isTab = (word: string): word is DeploymentTab => Object.hasOwn(TABS, word)
const isAct = (word: string): word is PlannedAct => Object.hasOwn(ACTS, word)

export interface Command {
  readonly id: string
  readonly group: string
  readonly label: string
  /** Words after the label, such as the phase of a deployment. */
  readonly hint?: string
  readonly target: Target
}

interface KnownPage {
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

/** The commands that a role allows. */
export interface Offered {
  readonly pages: readonly KnownPage[]
  /** Pages on which something is created. */
  readonly creations: readonly KnownPage[]
  /** True if deployments may be changed. */
  readonly changes: boolean
}

export interface Typed {
  /** The part of a name for which the server is asked. */
  readonly name: string
  /** The page or the change of a deployment that the text begins with; undefined for names alone. */
  readonly view: View | undefined
}

export function readTyped(text: string): Typed {
  const [first = '', second = '', ...more] = text.trim().toLowerCase().split(/\s+/)
  return more.length === 0 && (isTab(first) || isAct(first))
    ? { view: first, name: second }
    : { view: undefined, name: first }
}

export function findCommands(
  text: string,
  { pages, creations, changes }: Offered,
  { deployments, nodes }: Found,
): Command[] {
  const { view, name } = readTyped(text)
  if (view !== undefined && isAct(view) && !changes) return []
  const wanted = text.trim().toLowerCase()
  const matches = ({ label }: { readonly label: string }): boolean => label.toLowerCase().includes(wanted)
  const isMeant = (each: { readonly name: string }): boolean => each.name.toLowerCase().includes(name)
  const names = deployments.filter(isMeant).map((each) => deploymentCommand(each, view))
  // A word such as events is a page of the tenant as well.
  if (view !== undefined) return [...pages.map(pageCommand).filter(matches), ...names]
  const machines = [...nodes.filter(isMeant), ...pastedNode(text.trim())].map(nodeCommand)
  const reference = wanted === '' ? [] : [referenceCommand(text.trim())]
  return [
    ...pages.map(pageCommand).filter(matches),
    ...names,
    ...machines,
    ...creations.map(creationCommand).filter(matches),
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

const creationCommand = (page: KnownPage): Command => ({
  ...pageCommand(page),
  group: texts.palette.actions,
})

const deploymentCommand = ({ name, phase }: KnownDeployment, view: View | undefined): Command => ({
  id: `deployment-${name}`,
  group: texts.palette.deployments,
  label: view === undefined ? name : texts.palette.tab({ ...TABS, ...ACTS }[view], name),
  hint: phase,
  target:
    view !== undefined && isAct(view)
      ? { kind: 'plan', name, act: view }
      : { kind: 'deployment', name, tab: view ?? 'why' },
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
