// The rotation of the secrets of a deployment: the phase of each, the part of the person, and the next step with its effects.

import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useRotation } from '../../api/secrets/use-rotation.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { secretEquivalents } from '../../texts/commands/secrets.ts'
import { texts } from '../../texts/en.ts'
import { CredentialPanel } from './credential-panel.tsx'
import styles from './rotation-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/rotation')
const words = texts.secrets.rotation

export function RotationPage() {
  const { name } = route.useParams()
  const { data, error } = useRotation(name)
  return (
    <div className={styles.page}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data?.credentials.length === 0 ? (
        <Notice severity="info" title={words.none}>
          <p>{words.noneNext}</p>
        </Notice>
      ) : null}
      {(data?.credentials ?? []).map((credential) => (
        <CredentialPanel key={`${name} ${credential.secret}`} deployment={name} credential={credential} />
      ))}
      <CliFoot same={secretEquivalents.rotation(name)} />
    </div>
  )
}
