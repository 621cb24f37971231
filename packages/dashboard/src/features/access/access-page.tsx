// The access page of a tenant: tokens with their roles, credentials of registries, and quotas.

import type { Token } from '@holdfast/contract'
import { useMemo, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useTokens } from '../../api/resources/use-access.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import type { Outcome } from '../../parts/act-outcome.tsx'
import { ListPage, ListTools, Teaching } from '../../parts/resource/list-page.tsx'
import { RecordList } from '../../parts/resource/record-list.tsx'
import { accessTexts } from '../../texts/en/access.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { CreateToken } from './create-token.tsx'
import { Quotas } from './quotas.tsx'
import { Registries } from './registries.tsx'
import { RevokeToken } from './revoke-token.tsx'
import { tokenColumns } from './token-columns.tsx'

type Opened = { readonly kind: 'create' } | { readonly kind: 'revoke'; readonly token: Token } | undefined

export function AccessPage() {
  const { me, tenant } = useSession()
  const { items, error, hasMore, readMore } = useTokens()
  const { closed } = useWrite('tokens:write', useStale())
  const [opened, setOpened] = useState<Opened>()
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const own = me.token.id
  const columns = useMemo(
    () => tokenColumns(own, closed, (token) => setOpened({ kind: 'revoke', token })),
    [own, closed],
  )
  const onDone = (text: string): void => setOutcome({ kind: 'done', text })
  const dialog = { onDone, onClose: () => setOpened(undefined) }
  return (
    <ListPage
      title={accessTexts.title}
      count={items === undefined ? undefined : accessTexts.count(items.length, hasMore)}
      actions={
        <ActButton
          label={accessTexts.create}
          closed={closed}
          running={false}
          onAct={() => setOpened({ kind: 'create' })}
        />
      }
      same={resourceEquivalents.tokens(tenant)}
    >
      <ListTools q={undefined} filters={false} outcome={outcome} onChange={() => {}} />
      <RecordList
        columns={columns}
        items={items}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        keyOf={({ id }) => id}
        onEnd={readMore}
        empty={
          <Teaching
            title={accessTexts.emptyTitle}
            next={accessTexts.emptyNext}
            command={accessTexts.emptyCommand}
          />
        }
      />
      <Registries onDone={onDone} />
      <Quotas />
      {opened?.kind === 'create' ? <CreateToken {...dialog} /> : null}
      {opened?.kind === 'revoke' ? <RevokeToken token={opened.token} {...dialog} /> : null}
    </ListPage>
  )
}
