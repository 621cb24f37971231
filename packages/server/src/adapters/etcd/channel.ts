// The gRPC channel to one etcd member: address, credentials and options. The options keep gRPC from repeating a write.
// Each member has its own channel, because endpoint-pool.ts, and not a gRPC load balancer, chooses the member.

import { type ChannelCredentials, Client, type ClientOptions, credentials } from '@grpc/grpc-js'
import type { ClientTls } from '../../ports/client-tls.ts'

export interface EtcdAddress {
  /** The address of the etcd member as configured, with which logs and the status name the member. */
  readonly endpoint: string
  readonly target: string
  readonly secure: boolean
}

const CHANNEL_OPTIONS: ClientOptions = {
  // NOTE no retries by gRPC, because a retry could send a transaction twice. 0 also disables transparent retries.
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // NOTE no keepalive pings without a call: etcd treats pings on an idle connection as abuse and closes the connection.
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
  // A window of 4 MB, because responses are megabytes large; the default window costs a round trip for each 64 KB.
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
}

/** Parses `http://host:port`, `https://host:port` or `host:port`; the last form uses TLS if `tls` is given. */
export function parseAddress(endpoint: string, tls: ClientTls | undefined): EtcdAddress {
  const text = endpoint.includes('://') ? endpoint : `${tls ? 'https' : 'http'}://${endpoint}`
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:')
    throw new TypeError(`etcd endpoint ${endpoint}: http or https only`)
  if (!secure && tls)
    throw new TypeError(`etcd endpoint ${endpoint}: TLS is configured but the scheme is http`)
  return { endpoint, target: `dns:${url.hostname}:${url.port || '2379'}`, secure }
}

export function makeCredentials(address: EtcdAddress, tls: ClientTls | undefined): ChannelCredentials {
  if (!address.secure) return credentials.createInsecure()
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text))
  return credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.cert))
}

/** Opens a new connection to an etcd member; no other gRPC client of this process shares the connection. */
export function openChannel(address: EtcdAddress, channelCredentials: ChannelCredentials): Client {
  return new Client(address.target, channelCredentials, CHANNEL_OPTIONS)
}
