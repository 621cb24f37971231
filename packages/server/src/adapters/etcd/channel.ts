// The channel to one etcd member: its address, credentials and options. The options keep gRPC from repeating a write.
// Each member has its own channel, because endpoint-pool.ts, and not a gRPC load balancer, chooses the member.

import { type ChannelCredentials, Client, type ClientOptions, credentials } from '@grpc/grpc-js'

/** Certificates and keys for TLS to etcd, as PEM texts. */
export interface EtcdTls {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
}

export interface EtcdAddress {
  /** The endpoint as configured; names the etcd member in logs and in the status. */
  readonly endpoint: string
  readonly target: string
  readonly secure: boolean
}

const CHANNEL_OPTIONS: ClientOptions = {
  // NOTE gRPC could send a transaction twice if it retried; 0 disables transparent retries, too.
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // NOTE etcd treats pings on an idle connection as abuse and closes the connection, together with any call in flight.
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  // Pages of a list and catch-ups of a watch are megabytes large; the default window costs a round trip for each 64 KB.
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
}

/** Accepts `http://host:port`, `https://host:port` and `host:port`; `host:port` uses TLS when `tls` is given. */
export function parseAddress(endpoint: string, tls: EtcdTls | undefined): EtcdAddress {
  const text = endpoint.includes('://') ? endpoint : `${tls ? 'https' : 'http'}://${endpoint}`
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:')
    throw new TypeError(`etcd endpoint ${endpoint}: http or https only`)
  if (!secure && tls)
    throw new TypeError(`etcd endpoint ${endpoint}: TLS is configured but the scheme is http`)
  return { endpoint, target: `dns:${url.hostname}:${url.port || '2379'}`, secure }
}

export function makeCredentials(address: EtcdAddress, tls: EtcdTls | undefined): ChannelCredentials {
  if (!address.secure) return credentials.createInsecure()
  const pem = (text: string | Buffer | undefined) => (text === undefined ? null : Buffer.from(text))
  return credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.cert))
}

/** Opens a connection to an etcd member that no other client of this process shares. */
export function openChannel(address: EtcdAddress, channelCredentials: ChannelCredentials): Client {
  return new Client(address.target, channelCredentials, CHANNEL_OPTIONS)
}
