// The first version of a secret.

import { getRouteApi } from '@tanstack/react-router'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { secretEquivalents } from '../../texts/commands/secrets.ts'
import { texts } from '../../texts/en.ts'
import { SecretForm } from './secret-form.tsx'
import styles from './secret-page.module.css'

const route = getRouteApi('/t/$tenant/secrets/new')
const EXAMPLE = 'resources/orders-db'

export function NewSecretPage() {
  const { path } = route.useSearch()
  return (
    <div className={styles.page}>
      <PageHead
        title={texts.secrets.write}
        aside={<span className={styles.muted}>{texts.secrets.note}</span>}
      />
      <SecretForm
        title={texts.secrets.form.first}
        keys={[]}
        {...(path === undefined ? {} : { suggested: path })}
      />
      <CliFoot same={secretEquivalents.write(path ?? EXAMPLE, 'password')} />
    </div>
  )
}
