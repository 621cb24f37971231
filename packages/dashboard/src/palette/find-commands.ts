// The commands of the palette that match what a person typed. Pages and actions are matched here; names of deployments by
// the server.

import { texts } from '../texts/en.ts'
import { SCHEME_CHOICES, type SchemeChoice } from '../theme/scheme.ts'

type Target =
  | { readonly kind: 'page'; readonly to: string }
  | { readonly kind: 'deployment'; readonly name: string }
  | { readonly kind: 'scheme'; readonly choice: SchemeChoice }
  | { readonly kind: 'sign-out' }
  /** Opens the search of the reference, for a code or any other word. */
  | { readonly kind: 'reference'; readonly word: string }

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

export interface KnownDeployment {
  readonly name: string
  readonly phase: string
}

export interface Typed {
  /** The part of a name for which the server is asked. */
  readonly name: string
  /** True if the text begins with the word why. */
  readonly asksWhy: boolean
}

export function readTyped(text: string): Typed {
  const words = text.trim().toLowerCase().split(/\s+/)
  const asksWhy = words[0] === 'why' && words.length <= 2
  return { asksWhy, name: (asksWhy ? words[1] : words[0]) ?? '' }
}

export function findCommands(
  text: string,
  pages: readonly KnownPage[],
  deployments: readonly KnownDeployment[],
): Command[] {
  const { asksWhy, name } = readTyped(text)
  const wanted = text.trim().toLowerCase()
  const matches = ({ label }: { readonly label: string }): boolean => label.toLowerCase().includes(wanted)
  const found = deployments.filter((each) => each.name.toLowerCase().includes(name))
  const names = found.map((each) => deploymentCommand(each, asksWhy))
  if (asksWhy) return names
  const reference = wanted === '' ? [] : [referenceCommand(text.trim())]
  return [...pages.map(pageCommand).filter(matches), ...names, ...ACTIONS.filter(matches), ...reference]
}

const pageCommand = ({ to, label }: KnownPage): Command => ({
  id: `page-${to}`,
  group: texts.palette.pages,
  label,
  target: { kind: 'page', to },
})

const deploymentCommand = ({ name, phase }: KnownDeployment, asksWhy: boolean): Command => ({
  id: `deployment-${name}`,
  group: texts.palette.deployments,
  label: asksWhy ? texts.palette.why(name) : name,
  hint: phase,
  target: { kind: 'deployment', name },
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
