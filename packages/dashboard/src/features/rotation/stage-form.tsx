// The first step of a rotation: a new version. By default the server generates the keys of the version in use.

import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useSecrets } from '../../api/secrets/use-secrets.ts'
import { type KeyRow, type Material, readMaterial } from '../../parts/secret/read-material.ts'
import { emptyValues, newRow, SecretFields } from '../../parts/secret/secret-fields.tsx'
import { texts } from '../../texts/en.ts'
import styles from './rotation-page.module.css'

interface Props {
  readonly path: string
  readonly label: string
  /** Why it is closed; absent if it is open. */
  readonly closed: string | undefined
  readonly running: boolean
  onStage(material: Material): void
}

export function StageForm(props: Props) {
  const { data } = useSecrets()
  if (data === undefined) return null
  const keys = data.find(({ path }) => path === props.path)?.versions.at(-1)?.keys ?? []
  return <Fields {...props} keys={keys} />
}

function Fields({ label, closed, running, keys, onStage }: Props & { readonly keys: readonly string[] }) {
  const [rows, setRows] = useState<readonly KeyRow[]>(() =>
    keys.length === 0 ? [newRow('password')] : keys.map((key) => newRow(key)),
  )
  const [wrong, setWrong] = useState<string>()
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    const read = await readMaterial(rows, new FormData(form))
    setWrong(read.ok ? undefined : read.why)
    if (!read.ok) return
    emptyValues(form, rows)
    onStage(read.material)
  }
  return (
    <form className={styles.page} autoComplete="off" onSubmit={(event) => void submit(event)}>
      <SecretFields rows={rows} onChange={setRows} />
      {keys.length > 1 ? <p className={styles.muted}>{texts.secrets.rotation.allKeys}</p> : null}
      {wrong === undefined ? null : <p role="alert">{wrong}</p>}
      <div className={styles.acts}>
        <Button type="submit" disabled={running || closed !== undefined}>
          {label}
        </Button>
        {closed === undefined ? null : <span className={styles.muted}>{closed}</span>}
      </div>
    </form>
  )
}
