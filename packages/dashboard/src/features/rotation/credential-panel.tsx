// One credential of a deployment: its phase, the part of the person, and its consumers with what each has proved.

import type { CredentialRotation } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import { SHOWN_PHASES, yourPart } from './describe-rotation.ts'
import { NextStep } from './next-step.tsx'
import styles from './rotation-page.module.css'

const words = texts.secrets.rotation

interface Props {
  readonly deployment: string
  readonly credential: CredentialRotation
}

export function CredentialPanel({ deployment, credential }: Props) {
  const { secret, vault_path, since, versions } = credential
  return (
    <Panel
      title={`${secret}: ${vault_path}`}
      aside={
        since === null || versions.old === null || versions.new === null ? null : (
          <>
            {words.versions(versions.old, versions.new)}, {words.since} <Moment iso={since} age />
          </>
        )
      }
    >
      <div className={styles.body}>
        <Phases current={credential.phase} />
        <YourPart credential={credential} />
        <Consumers credential={credential} />
        <NextStep deployment={deployment} credential={credential} />
      </div>
    </Panel>
  )
}

function Phases({ current }: { readonly current: CredentialRotation['phase'] }) {
  const at = SHOWN_PHASES.indexOf(current)
  return (
    <ol className={styles.phases} aria-label={words.stepper}>
      {SHOWN_PHASES.map((phase, index) => (
        <li
          key={phase}
          className={styles.phase}
          {...(index === at ? { 'aria-current': 'step' as const } : {})}
          {...(index < at ? { 'data-past': true } : {})}
        >
          <span>{words.phases[phase]}</span>
        </li>
      ))}
    </ol>
  )
}

function YourPart({ credential }: { readonly credential: CredentialRotation }) {
  const sentences = yourPart(credential)
  if (sentences.length === 0) return null
  return (
    <p className={styles.part}>
      <strong>{words.yourPart}:</strong>
      {sentences.join(' ')}
    </p>
  )
}

function Consumer({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  return name.startsWith('job/') ? (
    <strong>{name}</strong>
  ) : (
    <Link to="/t/$tenant/deployments/$name/replicas" params={{ tenant, name }} search={{}}>
      {name}
    </Link>
  )
}

function Consumers({ credential: { consumers, versions } }: { readonly credential: CredentialRotation }) {
  if (consumers.length === 0) return null
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          {[words.consumer, words.pinned, words.runs, words.proved].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {consumers.map(({ deployment, canary, pinned, running, proved }) => (
          <tr key={`${deployment} ${canary}`}>
            <td>
              <Consumer name={deployment} />
              {canary === true ? ` (${texts.secrets.canary})` : null}
            </td>
            <td>{pinned === null ? texts.secrets.noVersion : texts.secrets.version(pinned)}</td>
            <td>
              {running.map(({ version, replicas }) => words.times(version, replicas)).join(', ') ||
                words.notRunning}
            </td>
            <td>
              {versions.new === null ? (
                '–'
              ) : proved ? (
                <PhaseBadge word="ready" label={words.yes} />
              ) : (
                <PhaseBadge word="pending" label={words.notYet} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
