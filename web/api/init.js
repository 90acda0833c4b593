// Starts Swagger UI on the OpenAPI document that the page names, with requests sent to the host that served the page.
const root = document.getElementById('api');
const reply = await fetch(root.dataset.document);
const document_ = await reply.json();
document_.servers = [{ url: location.origin }];
window.SwaggerUIBundle({
  domNode: root,
  spec: document_,
  docExpansion: 'none',
  filter: true,
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Tokens stay in memory: a reload forgets them.
  persistAuthorization: false,
  validatorUrl: null,
});
