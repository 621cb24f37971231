// The networks of the tenant: where each is, which workloads use it, and the ways to create and delete one.

import type { Network } from '@holdfast/contract'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useNetworks } from '../../api/resources/use-networks.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import type { Outcome } from '../../parts/act-outcome.tsx'
import { FilteredList } from '../../parts/resource/filtered-list.tsx'
import { ListPage } from '../../parts/resource/list-page.tsx'
import { networkTexts } from '../../texts/en/networks.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { CreateNetwork } from './create-network.tsx'
import { DeleteNetwork } from './delete-network.tsx'
import { networkColumns } from './network-columns.tsx'

const route = getRouteApi('/t/$tenant/networks')
const NEEDS = 'networks:write'

type Opened = { readonly kind: 'create' } | { readonly kind: 'delete'; readonly network: Network } | undefined

export function NetworksPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { items, error, hasMore, readMore } = useNetworks()
  const { closed } = useWrite(NEEDS, useStale())
  const [opened, setOpened] = useState<Opened>()
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const columns = useMemo(
    () => networkColumns(closed, (network) => setOpened({ kind: 'delete', network })),
    [closed],
  )
  const finish = (text: string): void => {
    setOpened(undefined)
    setOutcome({ kind: 'done', text })
  }
  const dialog = { onDone: finish, onClose: () => setOpened(undefined) }
  return (
    <ListPage
      title={networkTexts.title}
      count={items === undefined ? undefined : networkTexts.count(items.length, hasMore)}
      actions={
        <ActButton
          label={networkTexts.create}
          closed={closed}
          running={false}
          onAct={() => setOpened({ kind: 'create' })}
        />
      }
      same={resourceEquivalents.networks()}
    >
      <FilteredList
        columns={columns}
        items={items}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        q={q}
        outcome={outcome}
        texts={networkTexts}
        onFilter={(search) => void navigate({ search, replace: true })}
        onEnd={readMore}
      />
      {opened?.kind === 'create' ? <CreateNetwork {...dialog} /> : null}
      {opened?.kind === 'delete' ? <DeleteNetwork network={opened.network} {...dialog} /> : null}
    </ListPage>
  )
}
