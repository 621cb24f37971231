// Texts of changes of nodes: joining, draining, removing; and of their usage.

import { formatCount } from '../format.ts'

export const joinTexts = {
  page: 'Join a machine',
  intro:
    'The machine needs Docker Engine and the Holdfast agent, and must reach this server. It opens the connection; nothing connects to it.',
  form: 'The machine',
  name: 'Name of the node',
  nameHint: 'lowercase letters, digits, hyphens',
  country: 'Country, as you vouch for it',
  countryHint: 'two capital letters, such as DE; may stay empty',
  region: 'Region, as you vouch for it',
  regionHint: 'a region of the platform; may stay empty',
  create: 'Create the join command',
  again: 'Create another join command',
  command: 'Run this on the machine, as root',
  commandNote: (time: string) => `It works once, until ${time}. It contains a secret and is not shown again.`,
  lost: 'Not known whether a token was created: no answer arrived. Create another one; an unused token ends after 15 minutes.',
  steps: 'What happens now',
  created: (name: string) => `The join command of ${name} is created.`,
  waiting: (name: string) => `Waiting until ${name} enrolls.`,
  enrolled: (name: string) => `${name} has enrolled.`,
  connecting: (name: string) =>
    `Start the agent on ${name} with the command that the enrollment has printed, holdfast-agent run. Waiting until it connects.`,
  ready: (name: string) => `${name} is ready.`,
  open: (name: string) => `Open ${name}`,
} as const

export const oneTimeTexts = {
  copy: 'Copy',
  copied: 'Copied',
  refused: 'The browser refused to copy; show it and select it',
  show: 'Show',
  hide: 'Hide',
} as const

export const drainTexts = {
  act: (node: string, moves: number, unplaced: number, stops: number) =>
    [
      `Drain ${node}: ${moves === 0 ? 'move nothing' : `move ${formatCount(moves, 'replica')}`}`,
      ...(stops === 0 ? [] : [`${formatCount(stops, 'replica')} ${stops === 1 ? 'stops' : 'stop'}`]),
      ...(unplaced === 0
        ? []
        : [`${formatCount(unplaced, 'replica')} ${unplaced === 1 ? 'finds' : 'find'} no node`]),
    ].join(', '),
  note: 'moves every replica to another node, each when its successor is ready',
  left: (count: number) => `Draining: ${formatCount(count, 'replica')} left.`,
  last: 'Draining: the last replica is leaving.',
  drained: 'Nothing is left on this node, and it accepts nothing new.',
  cancel: (node: string) => `Cancel: uncordon ${node}`,
  done: (node: string) => `${node} is draining.`,
} as const

export const removeTexts = {
  title: 'Remove',
  note: 'ends the enrollment of this machine',
  what: 'The node gets no new replicas, its replicas move away, and it leaves when the last one has. Its machine can join again.',
  force: 'The machine will never answer again',
  forceNote:
    'Removes it at once. Containers that still run there are no longer managed, and its data is abandoned.',
  button: (node: string) => `Remove ${node}`,
  question: (node: string) => `Remove ${node}?`,
  effects: 'What would happen',
  none: 'Nothing that runs is changed.',
  act: (node: string, force: boolean) => (force ? `Remove ${node} at once` : `Remove ${node}`),
  done: (node: string) => `${node} is being removed.`,
} as const
