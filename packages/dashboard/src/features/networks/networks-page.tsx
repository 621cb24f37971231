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
import { ListPage, ListTools, Teaching } from '../../parts/resource/list-page.tsx'
import { matchingNames } from '../../parts/resource/matching-names.ts'
import { RecordList } from '../../parts/resource/record-list.tsx'
import { networkTexts } from '../../texts/en/networks.ts'
import { resourceTexts } from '../../texts/en/resources.ts'
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
      <ListTools
        q={q}
        filters={items !== undefined && items.length > 0}
        outcome={outcome}
        onChange={(next) => void navigate({ search: next === undefined ? {} : { q: next }, replace: true })}
      />
      <RecordList
        columns={columns}
        items={items === undefined ? undefined : matchingNames(items, q)}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        keyOf={({ id }) => id}
        onEnd={readMore}
        unmatched={q === undefined ? undefined : resourceTexts.noMatch}
        empty={
          <Teaching
            title={networkTexts.emptyTitle}
            next={networkTexts.emptyNext}
            command={networkTexts.emptyCommand}
          />
        }
      />
      {opened?.kind === 'create' ? <CreateNetwork {...dialog} /> : null}
      {opened?.kind === 'delete' ? <DeleteNetwork network={opened.network} {...dialog} /> : null}
    </ListPage>
  )
}
