export const STYLE = `
body{font:16px/1.55 system-ui,sans-serif;margin:0;color:#1c2330;background:#fff;display:flex}
nav{width:15rem;flex:none;padding:1.5rem 1rem;box-sizing:border-box;border-right:1px solid #e3e8ef;min-height:100vh;font-size:14px}
nav a{display:block;color:#3c4a60;text-decoration:none;padding:.15rem 0}nav p a{display:inline-block;margin-right:.8rem}
nav a.here{color:#0b6bcb;font-weight:600}nav h2{font-size:11px;text-transform:uppercase;letter-spacing:.06em;color:#8792a5;margin:1.2rem 0 .3rem}
main{max-width:52rem;padding:1rem 2.5rem 5rem;box-sizing:border-box;min-width:0;flex:1}
h1{font-size:1.7rem}main h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:1px solid #e3e8ef}
code{font:13.5px ui-monospace,monospace;background:#f2f5f9;padding:.1em .3em;border-radius:3px}
pre{background:#f2f5f9;padding:.9rem;border-radius:6px;overflow:auto}pre code{background:none;padding:0}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-top:1px solid #e3e8ef;font-size:14.5px}
figure{margin:1rem 0}figure svg,img{max-width:100%;height:auto}a{color:#0b6bcb}svg text{font:12px system-ui,sans-serif;fill:#3c4a60}svg rect{fill:#4a90d9}svg rect.floor{fill:#b9c6d6}
@media(max-width:52rem){body{display:block}nav{width:auto;min-height:0;border:0;border-bottom:1px solid #e3e8ef}main{padding:1rem}}
@media(prefers-color-scheme:dark){body{background:#12161d;color:#dbe2ec}nav,main h2,td,th{border-color:#2c3442}nav a{color:#aab6c6}code,pre{background:#1b212b}a,nav a.here{color:#6cb2ff}svg text{fill:#aab6c6}}
`;
