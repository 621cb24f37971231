// Flags over environment over file, each value on its own. A token belongs to the address it was given for: one from the
// file is never sent to an address from elsewhere, and nobody else is trusted by its authority.

import { HTTP_URL } from '../args/forms.ts'
import type { ChosenSettings, Settings } from '../command.ts'
import type { Contexts } from './contexts.ts'

type Texts = { readonly [name: string]: string | undefined }

export interface Sources {
  readonly flags: Settings
  readonly env: Texts
  readonly contexts: Contexts
}

export function chooseSettings({ flags, env, contexts }: Sources): ChosenSettings {
  const name = flags.context ?? given(env.HOLDFAST_CONTEXT) ?? contexts.current
  const kept = name === undefined ? undefined : contexts.contexts[name]
  const wanted = flags.context ?? given(env.HOLDFAST_CONTEXT)
  if (wanted !== undefined && kept === undefined)
    return { ok: false, why: `there is no context ${wanted}; known are: ${known(contexts)}` }
  const url = flags.url ?? given(env.HOLDFAST_URL) ?? kept?.url
  if (url !== undefined && !HTTP_URL.test(url))
    return {
      ok: false,
      why: `${withoutUser(url)} is no address of a platform: it must be ${HTTP_URL.expected}`,
    }
  const own = kept !== undefined && sameAddress(url, kept.url) ? kept : undefined
  const token = flags.token ?? given(env.HOLDFAST_TOKEN) ?? own?.token
  const tenant = flags.tenant ?? given(env.HOLDFAST_TENANT) ?? own?.tenant
  const caFile = flags.caFile ?? given(env.HOLDFAST_CA_FILE) ?? own?.caFile
  return {
    ok: true,
    settings: {
      ...(name === undefined ? {} : { context: name }),
      ...(url === undefined ? {} : { url }),
      ...(token === undefined ? {} : { token }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(caFile === undefined ? {} : { caFile }),
    },
  }
}

/** A user in an address may come with a password. */
const withoutUser = (url: string): string => url.replace(/^.*@/, '...@')

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
const known = ({ contexts }: Contexts): string => Object.keys(contexts).join(', ') || 'none'
const sameAddress = (one: string | undefined, other: string): boolean =>
  one?.replace(/\/+$/, '') === other.replace(/\/+$/, '')
