// Seeded bugs around machines that cannot create containers. Only the scripts of such machines can find them.

import { type Bug, core, server } from './bug.ts'

const BUGS: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'filter on nodes that could not create a container missing',
    edits: [core('scheduling/filters/index.ts', '  creation,\n', '')],
    seenBy: ['creation-avoided'],
  },
  {
    name: 'a replica stays on a node that cannot create it',
    edits: [
      core(
        'placement/remember-failures.ts',
        'return isRefused && isRunning(each)',
        'return isRefused && isRunning(each) && observed === undefined',
      ),
    ],
    seenBy: ['created-elsewhere', 'creation-explained'],
  },
  {
    name: 'the third failure of a node wakes no controller',
    edits: [
      server('loops/controllers/queue/observation-dedup.ts', 'nodeFailures = 0,', 'restarts: nodeFailures,'),
    ],
    seenBy: ['created-elsewhere', 'creation-explained'],
  },
  {
    name: 'a node that could not create a container is avoided without end',
    edits: [core('scheduling/avoid-nodes.ts', 'return end > now && end <=', 'return end <=')],
    seenBy: ['settled'],
  },
  {
    name: 'a registry that does not answer moves replicas',
    edits: [core('node/node-cause.ts', 'return OF_DISK.test(message)', "return message !== ''")],
    seenBy: ['creation-avoided'],
  },
]

export const CREATION_BUGS: readonly Bug[] = BUGS.map((bug) => ({ ...bug, scripts: 'creations' }))
