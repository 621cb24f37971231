// All that an operator can set, once: the type of the configuration, what the file is checked against, the defaults,
// the names of the environment variables and the list that the guide is held to. DECISIONS 6, 7 and 8.

import {
  boolean,
  type Infer,
  list,
  map,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '@holdfast/contract'
import type { Secret } from '../ports/secret.ts'
import * as forms from './forms.ts'
import {
  etcdQuotaBytes,
  limitsShape,
  livenessShape,
  quotasShape,
  ratesShape,
  retentionShape,
} from './number-settings.ts'
import { type Form, setting } from './setting.ts'
import { SHIPPED_REGIONS } from './shipped-regions.ts'

/** The parts of the one binary, DESIGN 3. */
export const SERVER_ROLES = ['api', 'controllers', 'gateway', 'broker'] as const
export type ServerRole = (typeof SERVER_ROLES)[number]

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

const text = (form: Form, about: string, value?: string): Shape<string> =>
  setting(string(), { form, about, ...(value === undefined ? {} : { default: value }) })
const flag = (value: boolean, about: string) => setting(boolean(), { default: value, about })
const pemFile = (about: string) =>
  optional(setting(string(), { form: forms.filePath, file: true, about: `Path of a PEM file: ${about}` }))

/** Checked as a string, handed out as a value that no log can show. */
const secretValue = (about: string): Shape<Secret> =>
  setting<Secret>({ kind: 'string' }, { form: forms.secretText, secret: true, about })
const secretFile = (about: string) =>
  optional(
    setting(string(), {
      form: forms.filePath,
      secretFile: true,
      about: `Path of a file that holds ${about}`,
    }),
  )

const identity = (who: string) =>
  object({
    roleId: text(forms.word, `AppRole role id of ${who}`),
    secretId: secretValue(`AppRole secret id of ${who}`),
    secretIdFile: secretFile(`the AppRole secret id of ${who}`),
  })

const etcdShape = object({
  endpoints: setting(list(text(forms.origin, 'One member')), {
    minimum: 1,
    distinct: true,
    about: 'Client addresses of the etcd members',
  }),
  root: text(forms.keyRoot, 'What every key begins with', '/hf'),
  tls: optional(
    object({
      ca: pemFile('the authority of the members'),
      cert: pemFile('our client certificate'),
      key: pemFile('its private key'),
    }),
  ),
  username: optional(text(forms.word, 'etcd user')),
  password: optional(secretValue('Password of the etcd user')),
  passwordFile: secretFile('the password of the etcd user'),
  quotaBytes: etcdQuotaBytes,
})

const secretsStoreShape = object({
  address: text(forms.origin, 'OpenBao or Vault'),
  ca: pemFile('the authority of the secrets store'),
  namespace: optional(text(forms.storeNamespace, 'Namespace inside the secrets store')),
  api: optional(identity('api and controllers, which write and never read')),
  broker: optional(identity('the broker, which reads')),
})

const hostList = (about: string) =>
  setting(list(text(forms.registryHost, 'One host')), { distinct: true, about })

const registryShape = object({
  host: text(forms.registryHost, 'Registry, as image references name it'),
  endpoint: optional(text(forms.registryHost, 'Where its API is, if elsewhere')),
  plainHttp: optional(setting(boolean(), { about: 'HTTP instead of HTTPS' })),
  allowAddress: optional(setting(boolean(), { about: 'May be, or resolve to, a private address' })),
  tokenRealms: optional(hostList('Token servers beside the registry itself')),
  ca: pemFile('the authority of the registry'),
})

const residencyShape = object({
  enforcement: flag(true, 'Off: nothing with residency is placed'),
  regions: setting(map(setting(list(text(forms.country, 'One country')), { minimum: 1, distinct: true })), {
    default: SHIPPED_REGIONS,
    form: forms.resourceName,
    about: 'Countries of each region; named ones replace or add to the shipped ones',
  }),
})

export const configShape = object({
  listen: object({
    host: text(forms.listenHost, 'Address to listen on', '127.0.0.1'),
    port: setting<number>(
      { kind: 'integer' },
      { default: 8080, minimum: 1, maximum: 65_535, about: 'Its port' },
    ),
    tls: optional(
      object({ cert: pemFile('the certificate of this server'), key: pemFile('its private key') }),
    ),
  }),
  publicUrl: text(forms.origin, 'How clients reach the API; every rejection links to a page below it'),
  nodeName: optional(text(forms.dnsName, 'The control-plane node that this replica runs on')),
  roles: setting(list(oneOf(SERVER_ROLES)), {
    default: [...SERVER_ROLES],
    minimum: 1,
    distinct: true,
    about: 'What this process does',
  }),
  cluster: optional(
    object({
      url: optional(text(forms.origin, 'How the other replicas reach this one')),
      key: optional(secretValue('What the replicas prove to each other that they know')),
      keyFile: secretFile('the key of the cluster'),
      ca: pemFile('the authority of the other replicas, where their certificates are of a private one'),
    }),
  ),
  etcd: etcdShape,
  secretsStore: secretsStoreShape,
  secrets: object({
    namespaces: setting(list(text(forms.secretNamespace, 'One namespace')), {
      default: ['deployments', 'resources'],
      minimum: 1,
      distinct: true,
      about: 'First segments that a vault_path may have',
    }),
  }),
  registries: setting(list(registryShape), { default: [], about: 'Registries that images may come from' }),
  residency: residencyShape,
  limits: limitsShape,
  quotas: quotasShape,
  rates: ratesShape,
  reservedNames: setting(list(text(forms.resourceName, 'One name')), {
    default: [],
    distinct: true,
    about: 'Names that no tenant may use, beside etcd and holdfast-etcd',
  }),
  volumes: object({ enabled: flag(false, 'Whether deployments may mount volumes') }),
  metrics: object({ open: flag(false, 'Whether /metrics answers without a token') }),
  log: object({
    level: setting(oneOf(LOG_LEVELS), { default: 'info', about: 'Least severity that is written' }),
  }),
  liveness: livenessShape,
  retention: retentionShape,
})

/** Complete: only what is truly optional may be absent. Secrets redact themselves. */
export type Config = Infer<typeof configShape>
