// The columns of the list of networks.

import type { Network } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { Moment } from '../../parts/moment.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { networkTexts } from '../../texts/en/networks.ts'

export const networkColumns = (
  closed: string | undefined,
  onDelete: (network: Network) => void,
): readonly Column<Network>[] => [
  {
    title: networkTexts.name,
    width: '20%',
    narrow: 'start',
    cell: ({ name }) => <strong>{name}</strong>,
    hint: ({ name, labels }) => [name, ...Object.entries(labels).map((pair) => pair.join('='))].join(' '),
  },
  {
    title: networkTexts.phase,
    width: '18%',
    narrow: 'below',
    cell: ({ phase, reason }) => <PhaseBadge word={phase} {...(reason === null ? {} : { reason })} />,
  },
  { title: networkTexts.node, width: '14%', narrow: 'below-end', cell: ({ nodeName }) => nodeName },
  {
    title: networkTexts.wayOut,
    narrow: 'hidden',
    cell: ({ internal }) => (internal ? networkTexts.internal : networkTexts.outside),
  },
  {
    title: networkTexts.users,
    narrow: 'hidden',
    cell: ({ attached }) => (attached.length === 0 ? networkTexts.noUser : attached.join(', ')),
    hint: ({ attached }) => attached.join(', '),
  },
  {
    title: networkTexts.age,
    width: '84px',
    narrow: 'hidden',
    cell: ({ createdAt }) => <Moment iso={createdAt} age />,
  },
  {
    title: networkTexts.actions,
    width: '110px',
    narrow: 'end',
    cell: (network) => (
      <Button
        variant="default"
        size="compact-sm"
        aria-label={networkTexts.removeOf(network.name)}
        disabled={closed !== undefined || network.phase === 'Deleting'}
        {...(closed === undefined ? {} : { title: closed })}
        onClick={() => onDelete(network)}
      >
        {networkTexts.remove}
      </Button>
    ),
  },
]
