// The pages that help with a remedy: what is on a node, and the quotas of the tenant. Only platform administrators change
// quotas, so every other role reads who can.

import { mayDo, useSession } from '../../api/session.tsx'
import { LinkButton } from '../../parts/forms/link-button.tsx'
import { texts } from '../../texts/en.ts'
import type { RemedyPage } from './remedies-of.ts'
import styles from './why-page.module.css'

export function RemedyPages({ pages }: { readonly pages: readonly RemedyPage[] }) {
  return pages.map((page) =>
    page.kind === 'node' ? <WhatIsThere key="node" {...page.node} /> : <QuotaForm key="quotas" />,
  )
}

function WhatIsThere({ id, name }: { readonly id: string; readonly name: string }) {
  const { tenant } = useSession()
  return (
    <LinkButton
      to="/t/$tenant/nodes/$node"
      params={{ tenant, node: id }}
      aria-label={texts.why.whatIsThereOn(name)}
    >
      {texts.why.whatIsThere}
    </LinkButton>
  )
}

function QuotaForm() {
  const { me, tenant } = useSession()
  if (!mayDo(me, 'tenants:write')) return <span className={styles.muted}>{texts.why.quotaBy}</span>
  return (
    <LinkButton to="/platform/tenants/$id" params={{ id: tenant }}>
      {texts.why.toQuotas}
    </LinkButton>
  )
}
