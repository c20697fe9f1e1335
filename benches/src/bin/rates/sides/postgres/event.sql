INSERT INTO events (key, customer, name, at, properties) VALUES ($1, $2, $3, $4, $5::text::jsonb)
ON CONFLICT DO NOTHING
