// Texts of the pages of volumes.

import { formatCount } from '../format.ts'

export const volumeTexts = {
  title: 'Volumes',
  count: (count: number, more: boolean) => `${formatCount(count, 'volume')}${more ? ' and more' : ''}`,
  all: 'All volumes',
  unknown: 'This volume',
  name: 'Name',
  phase: 'Phase',
  used: 'Used',
  primary: 'Primary',
  copies: 'Copies',
  users: 'Used by',
  noUser: 'nothing',
  age: 'Age',
  usedOf: (used: string | undefined, size: string) =>
    used === undefined ? `${size}, use not measured yet` : `${used} of ${size}`,

  off: 'Volumes are switched off on this platform',
  offNext:
    'A platform administrator sets volumes.enabled to true in the configuration of every server, starts the agents with --pool, and restarts them. Then volumes can be created here.',
  offGuide: 'How a database keeps its data',

  emptyTitle: 'This tenant has no volume yet',
  emptyNext:
    'A volume keeps data on a node, and copies it to others, so that a deployment finds it again after a move or the death of a machine:',
  emptyCommand: 'holdfast volume create data --size 10Gi --replicas 1',

  create: 'Create a volume',
  submit: 'Create the volume',
  nameHint: 'Manifests name it in volumes.',
  size: 'Size',
  sizeHint: 'Such as 10Gi or 512Mi.',
  sizeWrong: 'Not a size. Use a number with a unit, such as 10Gi or 512Mi.',
  class: 'Class',
  classes: {
    replicated: 'replicated: copied to other nodes',
    ephemeral: 'ephemeral: one node, lost with it',
    object: 'object',
  },
  replicas: 'Copies besides the primary',
  node: 'Node of the primary',
  pickNode: 'The server chooses',
  created: (name: string) => `${name} is being created.`,

  facts: 'Facts',
  primaryOn: (node: string, epoch: number) => `${node}, epoch ${epoch}`,
  noPrimary: 'none',
  since: 'Primary since',
  fenced: 'Fenced since',
  residency: 'Residency',
  measured: 'Measured',
  createdAt: 'Created',
  mountedBy: 'Writer',

  role: { primary: 'primary', replica: 'replica' },
  epoch: (epoch: number) => `epoch ${epoch}`,
  behind: (age: string) => `${age} behind`,
  unknownLag: 'lag not known yet',
  promotable: 'can take over',
  notPromotable: 'cannot take over',
  ifDies: (node: string) => `If ${node} dies now`,
  restarts: (names: string) => `${names} restarts there.`,

  promotions: 'Promotions',
  noPromotion: 'No other copy has become the primary.',
  promotion: (from: string, to: string, before: number, after: number) =>
    `${from} to ${to}, epoch ${before} to ${after}`,
  lost: (time: string) => `up to ${time} of writes lost`,
  lossUnknown: 'the loss is not known',
  causes: { primary_silent: 'the primary was silent', forced: 'forced by an operator' },

  divergences: 'Divergences',
  divergencesNote: 'writes of a former primary that no copy has',
  noDivergence: 'None is kept.',
  divergence: (epoch: number, node: string) => `epoch ${epoch}, kept on ${node}`,
  counting: 'size being counted',
  keptUntil: 'kept until',
  unobserved: (node: string, message: string) => `${node} could not be asked: ${message}`,

  recommendation: (priority: string, type: string) => `${priority}: ${type}`,
  preview: 'Preview',
  previewOf: (type: string) => `Preview: ${type}`,
  apply: {
    set_replicas: (replicas: number) => `Set ${replicas === 1 ? '1 copy' : `${replicas} copies`}`,
    resize: (size: string) => `Resize to ${size}`,
    other: 'Apply',
  },
  applied: (name: string) => `The change of ${name} is accepted.`,
  measuredAgo: 'measured',

  addReplica: 'Add replica',
  addReplicaTo: (name: string) => `Add a copy of ${name}`,
  onNode: 'Node of the new copy',
  chooseNode: 'Choose a node',
  addOn: (node: string) => `Add the copy on ${node}`,
  addOnNone: 'Add the copy',
  added: (node: string) => `The copy on ${node} is being filled.`,

  resize: 'Resize',
  resizeOf: (name: string) => `Resize ${name}`,
  newSize: 'New size',
  resizeTo: (size: string) => `Resize to ${size}`,
  resizeNone: 'Resize',
  resized: (name: string, size: string) => `${name} is being resized to ${size}.`,

  remove: 'Delete this volume',
  removeNote: 'its data and all copies, for good',
  removeTitle: (name: string) => `Delete the volume ${name}`,
  removeOf: (name: string) => `Delete ${name} and its data`,
  removeEffect: 'Every node deletes its copy. The data cannot be restored.',
  removed: (name: string) => `${name} is being deleted.`,

  changes: { size: 'Size', replicas: 'Copies besides the primary', nodes: 'Nodes' },
  nothingRuns: 'Nothing that runs is stopped or moved.',
} as const
